#include "tuner/device/host/host_kernel.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/digest.h"

namespace normd {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;  // it would be closed twice
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// dlopen takes a path that it has seen before for the object it already has, and descriptor numbers
// are used again. The file's inode number is not, while the object is loaded; spelling it into the
// path with slashes and dots, which change nothing, makes the path new for every object.
std::string path_of_its_own(int descriptor, ino_t inode) {
  std::string path = "/proc/self/fd";
  for (const char digit : std::to_string(inode)) {
    path += std::string(static_cast<std::size_t>(digit - '0') + 1, '/') + '.';
  }
  return path + '/' + std::to_string(descriptor);
}

KernelResources resources_within(const DeviceSpec& spec, const Launch& launch) {
  int blocks = std::min(spec.blocks_per_sm_max, spec.threads_per_sm_max / launch.block);
  if (launch.shared_bytes > 0) {
    blocks = std::min(blocks, spec.shared_bytes_per_sm / launch.shared_bytes);
  }
  return {.registers = 0, .local_bytes = 0, .blocks_per_sm = blocks};
}

Result<void> check_launch(const Launch& launch) {
  if (launch.entries.empty()) return fail(ErrorCode::failed_precondition, "names no entry");
  if (launch.block <= 0 || launch.block % warp_lanes != 0) {
    return fail(ErrorCode::failed_precondition,
                "its block of " + std::to_string(launch.block) + " threads is no multiple of 32");
  }
  if (launch.cooperative && launch.cluster > 1) {
    return fail(ErrorCode::failed_precondition,
                "the host device runs one cluster after another, so it has no cooperative launches "
                "of clusters");
  }
  return {};
}

}  // namespace

void HostKernel::Unload::operator()(void* object) const {
  dlclose(object);
}

Result<HostKernel::Object> HostKernel::open_object(const Binary& binary) {
  const auto failed = [&](ErrorCode code, const std::string& words) {
    return fail(code, "loading " + binary.entry + " (" + binary.digest.substr(0, 12) +
                          ") on the host device: " + words);
  };
  const Descriptor file(memfd_create("normd_kernel", MFD_CLOEXEC));
  struct stat status;
  if (file.number() < 0 || fstat(file.number(), &status) != 0 ||
      !write_all(file.number(), binary.bytes)) {
    return failed(ErrorCode::resource_exhausted,
                  std::string("writing a memory file: ") + std::strerror(errno));
  }
  const std::string path = path_of_its_own(file.number(), status.st_ino);
  Object object(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!object) return failed(ErrorCode::failed_precondition, dlerror());
  return object;
}

Result<std::unique_ptr<HostKernel>> HostKernel::load(const Binary& binary, const Launch& launch,
                                                     const DeviceSpec& spec) {
  const auto refused = [&](ErrorCode code, const std::string& words) {
    return fail(code, "loading " + binary.entry + " on the host device: " + words);
  };
  if (const std::string digest = sha256_hex(binary.bytes); digest != binary.digest) {
    return refused(ErrorCode::data_loss,
                   "its bytes have the digest " + digest + ", not " + binary.digest);
  }
  if (binary.format != BinaryFormat::host_object) {
    return refused(ErrorCode::failed_precondition,
                   "it was compiled for " + binary.target + ", not for the host");
  }
  if (auto fits = check_launch(launch); !fits) {
    return refused(fits.error().code, fits.error().message);
  }
  auto object = open_object(binary);
  if (!object) return fail(std::move(object.error()));

  auto kernel = std::unique_ptr<HostKernel>(new HostKernel);
  kernel->object_ = std::move(*object);
  kernel->launch_ = launch;
  kernel->resources_ = resources_within(spec, launch);
  const auto symbol = [&](const std::string& name) {
    return dlsym(kernel->object_.get(), name.c_str());
  };
  void* set_runtime = symbol("normd_set_host_runtime");
  if (set_runtime == nullptr) {
    return refused(ErrorCode::failed_precondition, "it exports no normd_set_host_runtime");
  }
  for (const std::string& name : launch.entries) {
    void* entry = symbol(name);
    if (entry == nullptr) {
      return refused(ErrorCode::failed_precondition, "it exports no entry " + name);
    }
    kernel->entries_.push_back(reinterpret_cast<HostEntry>(entry));
  }
  reinterpret_cast<void (*)(const HostRuntime*)>(set_runtime)(&BlockRunner::host_runtime());
  return kernel;
}

}  // namespace normd
