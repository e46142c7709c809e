# The steps that scripts/prepare, scripts/test and scripts/demo share. Sourced, with `root` set to
# the repository and `set -euo pipefail` on; sets variables and prints what each step did.
# shellcheck shell=bash

setup=$root/.setup

# NVIDIA's wheels, pinned. cuda.h is in the runtime's wheel, nvrtc.h and libnvrtc in NVRTC's own.
cuda_headers_wheel='nvidia-cuda-runtime==13.0.*'
nvrtc_13_wheel='nvidia-cuda-nvrtc==13.0.*'
nvrtc_12_wheel='nvidia-cuda-nvrtc-cu12==12.9.86'

say() { printf '%s\n' "$*"; }
heading() { printf '\n=== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Installs the packages of the list (one a line, # comments) that dpkg does not know as installed.
install_packages() {
  local wanted missing=() as_root=()
  heading 'Debian packages'
  command -v dpkg-query >/dev/null ||
    die "this is no Debian machine; install the equivalents of $1 by hand and run cmake yourself"
  mapfile -t wanted < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1")
  local package
  for package in "${wanted[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    say "all ${#wanted[@]} are there"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || die "run as root, or install: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} of ${#wanted[@]}: ${missing[*]}"
  "${as_root[@]}" apt-get update -q >"$(log_file apt-update)" 2>&1 ||
    die "apt-get update failed; see $(log_file apt-update)"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    "${missing[@]}" >"$(log_file apt-install)" 2>&1 ||
    die "apt-get install failed: $(grep -m3 '^E:' "$(log_file apt-install)" || true)" \
      "(the rest is in $(log_file apt-install))"
  say 'installed'
}

log_file() {
  mkdir -p "$setup/log"
  printf '%s' "$setup/log/$1.log"
}

# Sets driver_major: the NVIDIA driver's first number, such as 580, or empty without a driver; and
# gpu_names. A driver answers only where there is a GPU, so both are empty on a machine without one.
find_driver() {
  heading 'GPU'
  driver_major= gpu_names=
  if command -v nvidia-smi >/dev/null; then
    gpu_names=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c |
      sed 's/^ *//' | paste -sd, -) || gpu_names=
    driver_major=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null |
      sed -n '1s/\..*//p') || driver_major=
  fi
  [[ $driver_major =~ ^[0-9]+$ ]] || driver_major=$(probe_driver)
  if [ -n "$driver_major" ]; then
    say "driver $driver_major, ${gpu_names:-GPU not named (nvidia-smi is missing)}"
  else
    say 'no NVIDIA driver answers here: everything runs on the host device (the CPU)'
  fi
}

# Asks libcuda itself where nvidia-smi is missing, as in many containers. It tells the newest CUDA
# that it can load, so 13.x is said as driver 580 and 12.x as 525, the oldest of their kind.
probe_driver() {
  python3 - <<'END' 2>/dev/null || true
import ctypes
library = ctypes.CDLL("libcuda.so.1")
version = ctypes.c_int()
devices = ctypes.c_int()
calls = (lambda: library.cuInit(0),
         lambda: library.cuDeviceGetCount(ctypes.byref(devices)),
         lambda: library.cuDriverGetVersion(ctypes.byref(version)))
if all(call() == 0 for call in calls) and devices.value:
    print({13: 580, 12: 525}.get(version.value // 1000, version.value // 1000 * 45))
END
}

# The CUDA version that a toolkit folder's cuda.h states, such as 13000; empty without one.
cuda_version_of() {
  [ ! -r "$1/include/cuda.h" ] ||
    sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$1/include/cuda.h"
}

# Sets nvrtc_wanted (13, or 12 for drivers below 580, which load no binary of CUDA 13) and
# cuda_folder: an installed toolkit that fits, else .setup/cuda, filled from NVIDIA's wheels.
# Below 12.8 NVRTC does not know sm_100 and sm_120.
find_cuda() {
  heading 'NVRTC and CUDA headers'
  nvrtc_wanted=13
  if [ -n "$driver_major" ] && [ "$driver_major" -lt 580 ]; then
    nvrtc_wanted=12
    [ "$driver_major" -ge 525 ] ||
      say "note: driver $driver_major is older than 525, the oldest that loads what NVRTC 12 makes"
  fi
  local folder version
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -n "$folder" ] || continue
    version=$(cuda_version_of "$folder")
    if [ -n "$version" ] && [ "$version" -ge 12080 ] && [ $((version / 1000)) = "$nvrtc_wanted" ] &&
      [ -e "$folder/lib64/libnvrtc.so.$nvrtc_wanted" ] && [ -f "$folder/include/nvrtc.h" ]; then
      cuda_folder=$folder
      say "using the toolkit in $folder ($((version / 1000)).$((version % 1000 / 10)))"
      return
    fi
    [ -z "$version" ] ||
      say "left alone: $folder is CUDA $version, not a $nvrtc_wanted.x from 12.8 on"
  done
  cuda_folder=$setup/cuda
  # A change of driver changes the major; what was fetched for another is replaced.
  if [ "$(cat "$cuda_folder/nvrtc-major" 2>/dev/null)" = "$nvrtc_wanted" ]; then
    say "using what was fetched before into $cuda_folder (NVRTC $nvrtc_wanted)"
    return
  fi
  say "no toolkit that fits: fetching NVIDIA's wheels into $cuda_folder"
  rm -rf "$cuda_folder"
  local nvrtc_wheel=nvrtc_${nvrtc_wanted}_wheel
  local wheel
  for wheel in "$cuda_headers_wheel" "${!nvrtc_wheel}"; do
    fetch_wheel "$wheel" "$cuda_folder" ||
      die "neither a CUDA toolkit nor NVIDIA's wheels can be had; see $(log_file pip)"
  done
  printf '%s\n' "$nvrtc_wanted" >"$cuda_folder/nvrtc-major"
}

# The file that programs and the build open as NVRTC.
nvrtc_library() {
  local file
  for file in "$cuda_folder"/lib64 "$cuda_folder"/lib; do
    file+=/libnvrtc.so.$nvrtc_wanted
    [ ! -e "$file" ] || { printf '%s' "$file"; return; }
  done
  die "no libnvrtc.so.$nvrtc_wanted under $cuda_folder"
}

# fetch_wheel SPEC FOLDER: puts the wheel's headers and libraries under FOLDER/include and
# FOLDER/lib. Installing aside into a folder leaves the system's Python alone (PEP 668).
fetch_wheel() {
  local aside=$setup/wheel.$$ file
  rm -rf "$aside"
  if ! python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check \
    --target "$aside" "$1" >>"$(log_file pip)" 2>&1; then
    rm -rf "$aside"
    say "could not fetch $1"
    return 1
  fi
  mkdir -p "$2/include" "$2/lib"
  for file in "$aside"/nvidia/*/include/*; do cp -R "$file" "$2/include/"; done
  # The .alt libraries are a second build of the same compiler, and the static ones are not used.
  for file in "$aside"/nvidia/*/lib/*.so*; do
    case $file in *.alt.*) ;; *) mv "$file" "$2/lib/" ;; esac
  done
  rm -rf "$aside"
  say "fetched $1"
}

# Compile jobs: one for each core, but a translation unit of gRPC takes up to 1.2 GB.
compile_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1258291)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  printf '%s' $((cores < memory ? cores : memory))
}

# build_preset NAME [TARGET...]: configures and builds in build/NAME.
build_preset() {
  local preset=$1 log started=$SECONDS
  shift
  heading "Build, preset $preset"
  log=$(log_file "build-$preset")
  say "with $(compile_jobs) jobs; the log is $log"
  (cd "$root" && cmake --preset "$preset" -DNORMD_CUDA_INCLUDE="$cuda_folder/include" \
    -DNORMD_NVRTC_INCLUDE="$cuda_folder/include" -DNORMD_NVRTC_LIBRARY="$(nvrtc_library)") \
    >"$log" 2>&1 || {
    tail -n 25 "$log" >&2
    die "configuring failed; see $log"
  }
  (cd "$root" && cmake --build --preset "$preset" -j "$(compile_jobs)" ${1:+--target "$@"}) \
    >>"$log" 2>&1 || {
    grep -E -A 12 'FAILED|error:' "$log" | head -n 60 >&2
    die "building failed; the whole log is $log"
  }
  say "built in build/$preset, $((SECONDS - started)) s"
}
