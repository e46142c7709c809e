#include "service/cli/help.h"

namespace normd {

const char* const main_help = R"(Places:
  The socket is --socket, NORMD_SOCKET, $XDG_RUNTIME_DIR/normd/normd.sock or
  /run/normd/normd.sock. The store is --store, NORMD_STORE, the running daemon's,
  $XDG_CACHE_HOME/normd, $HOME/.cache/normd or /var/lib/normd. ls, show and
  explain read the store and need neither a daemon nor a GPU.

Exit status:
  0  done
  1  the operation was tried and failed, or doctor found a problem
  2  the command line or an input file is wrong
  3  no daemon answers, or it is stopping
  4  the key, store, device or file that was named is not there
  5  --check: the answer is outside the bound of the reference

Output is for people. --json prints one object with "format": 1 instead, for
programs; its field names are those of the protocol. Colours appear only on a
terminal and never when NO_COLOR is set.

Examples:
  normctl doctor
  normctl run --x x.npy --gamma g.npy --beta b.npy --out y.npy --check
  normctl tune 4096x4096 --dtype bf16
  normctl ls columns=4096
  normctl show 1)";

const CommandHelp run_help = {"Compute LayerNorm of a .npy file by the daemon", R"(
The last axis is normalised; the axes before it are rows. Files hold float16 or
float32 in C order. .npy has no bf16: with --dtype bf16, uint16 arrays are taken
for the bits of bf16, and y is written back as uint16. --x-dtype bf16 converts
float32 input on the way, rounded to nearest even. A message holds 64 MiB.

--check compares every element with a float64 reference and exits with 5 if one
is outside its bound. --expect prints the largest difference to another answer,
such as a framework's, and judges nothing.

A shape that is not tuned yet gets, by --policy: fallback, an answer at once
while tuning goes on behind; wait, the tuned answer; fail, an error.

Examples:
  normctl run --x x.npy --out y.npy
  normctl run --x x.npy --gamma g.npy --beta b.npy --policy wait --check
  normctl run --x x.npy --x-dtype bf16 --y-dtype fp32 --out y.npy
  normctl run --x bits.npy --dtype bf16 --expect framework.npy --json)"};

const CommandHelp tune_help = {"Tune one shape and print every trial", R"(
The daemon tunes; --no-daemon does it in this process and writes the store that a
daemon will find. Interrupting leaves a daemon's tuning running. A shape that is
tuned already answers at once unless --again is given.

Examples:
  normctl tune 4096x4096 --dtype bf16
  normctl tune 1x8192 --dtype fp16 --affine gamma --gamma-dtype fp32 --budget 10s
  normctl tune 64x384 --dtype fp32 --no-daemon --device host
  normctl tune 4096x4096 --dtype bf16 --template sub_warp --again)"};

const CommandHelp list_help = {"List the winners of the store", R"(
Each word given must occur in a winner's key or candidate, such as columns=4096,
x=bf16 or block_registers. The numbers are those of the whole list, in key order,
and may be given to show, explain and forget as long as no key is added.

Examples:
  normctl ls
  normctl ls x=bf16 columns=4096
  normctl ls --store /srv/image/normd --json)"};

const CommandHelp show_help = {"Show every trial of one key", R"(
Each trial with its median time and 95 % interval at both edges of its rows, with
x and y in the L2 cache and outside it where they fit; the useful bytes per
nanosecond (GB/s), its speed as a share of a plain copy of the same bytes,
registers, shared bytes and resident blocks; or why it was refused.

Examples:
  normctl show 3
  normctl show "columns=4096 x=bf16 gamma=none"
  normctl show 3 --json)"};

const CommandHelp explain_help = {"Say why a shape hits or misses", R"(
With a shape, asks the daemon, or without one (or with --store) compares with all
stored keys: a hit, or the nearest key and the fields in which it differs. With a
KEY, says whether this version still takes the stored winner.

Examples:
  normctl explain 4096x4096 --dtype bf16
  normctl explain 4096x4096 --dtype bf16 --affine none --store ./store
  normctl explain 3)"};

const CommandHelp forget_help = {"Remove one key's winner and trials", R"(
Shows the winner and asks first; --yes does not ask. A running daemon forgets it
too.

Examples:
  normctl forget 3
  normctl forget "columns=4096 x=bf16" --yes)"};

const CommandHelp status_help = {"Show the daemon's places, devices and counters", R"(
-v adds the limits. compiles_on_request_path stays 0: a request never waits for a
compiler unless it asks to.

Examples:
  normctl status
  normctl status --json)"};

const CommandHelp devices_help = {"List the GPUs that this process sees", R"(
GB/s is the data sheet's memory rate. The last line is the host device, which runs
the same kernels on the CPU, for tests and demos.

Examples:
  normctl devices
  normctl devices --json)"};

const CommandHelp doctor_help = {"Check driver, NVRTC, socket, store and rights", R"(
One line for each, with a remedy where there is a problem; exits with 1 if there
is one.

Examples:
  normctl doctor
  normctl doctor --json)"};

}  // namespace normd
