// Device: the hardware behind the one virtual interface of the project, with two implementations:
// cuda/ (the driver API) and host/ (the same kernel texts on the CPU). It buys tests without a GPU
// and injected faults. A Device belongs to one thread; addresses and kernels belong to their Device
// and must go before it. Nothing here compiles or checks results.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/launch.h"
#include "tuner/binary.h"
#include "tuner/device/device_condition.h"

namespace normd {

// Shown and recorded, never keyed, but for mig and power_limit_w, which reach the Fingerprint.
struct DeviceIdentity {
  std::string name;
  std::string uuid;    // "GPU-…", "MIG-…", "host"
  int ordinal = 0;     // as this process sees it
  std::string driver;  // driver version, and the CUDA version it supports
  std::string mig = "none";
  int power_limit_w = 0;
};

struct KernelResources {
  int registers = 0;
  int local_bytes = 0;    // per thread: spills and local arrays
  int blocks_per_sm = 0;  // resident blocks at the Launch's block and shared size
};

// A Binary loaded on a device, with its Launch: launchable. Unloads itself.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual const Launch& launch() const = 0;
  virtual KernelResources resources() const = 0;
};

// Device memory, aligned to 256 bytes. Frees itself.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual void* address() const = 0;  // a device address; do not touch it from the host
  virtual std::size_t bytes() const = 0;
};

// A part of an address space that has memory behind it.
struct Stretch {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};
// Stretches of one allocation begin at least so far apart, so that no two share a page on any
// device.
inline constexpr std::size_t stretch_distance_bytes = std::size_t{256} << 20;

// One step of a Sequence. `arguments` is the kernel's argument struct, copied at once.
struct KernelCall {
  Kernel* kernel = nullptr;
  std::span<const std::byte> arguments;
  std::int64_t rows = 0;  // the grid follows from it and the kernel's Launch
};
struct CopyCall {  // device to device
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;
};
using Call = std::variant<KernelCall, CopyCall>;

// A recorded sequence of calls (a CUDA graph), replayed as a whole.
class Sequence {
 public:
  virtual ~Sequence() = default;
};

// ErrorCode::unavailable from any call means that the device or its context is lost for good in
// this process. resource_exhausted is out of memory; failed_precondition a binary or launch that
// this device or driver refuses.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceSpec& spec() const = 0;
  virtual const DeviceIdentity& identity() const = 0;

  // Checks the binary's digest first: a difference is data_loss and nothing is loaded.
  virtual Result<std::unique_ptr<Kernel>> load(const Binary& binary, const Launch& launch) = 0;
  virtual Result<std::unique_ptr<Memory>> allocate(std::size_t bytes) = 0;
  // Address space of which only the stretches, and what else lies on their pages, have memory
  // behind them: whoever touches the rest faults. In order, stretch_distance_bytes apart.
  // unimplemented: this device or its driver has no such memory, or no room for the addresses.
  virtual Result<std::unique_ptr<Memory>> allocate_sparse(std::size_t bytes,
                                                          std::span<const Stretch> stretches) = 0;
  // Host memory that copies fast (pinned, on a GPU); address() is a host address.
  virtual Result<std::unique_ptr<Memory>> allocate_staging(std::size_t bytes) = 0;

  // All of these are ordered on the device's one stream. The copies return when the host side may
  // be reused; launch returns at once.
  virtual Result<void> copy_in(void* device_to, const void* host_from, std::size_t bytes) = 0;
  virtual Result<void> copy_out(void* host_to, const void* device_from, std::size_t bytes) = 0;
  virtual Result<void> copy_within(void* device_to, const void* device_from, std::size_t bytes) = 0;
  virtual Result<void> fill(void* device_to, unsigned char byte, std::size_t bytes) = 0;
  virtual Result<void> launch(const KernelCall& call) = 0;  // no rows: nothing is launched
  virtual Result<void> synchronize() = 0;

  // Records without running. replay_ns runs it once and returns its device time.
  virtual Result<std::unique_ptr<Sequence>> record(std::span<const Call> calls) = 0;
  virtual Result<double> replay_ns(Sequence& sequence) = 0;

  // Just now; cheap enough to ask around every batch of samples. Never fails: what the driver does
  // not tell is unknown.
  virtual DeviceCondition condition() = 0;
};

// The argument struct as bytes: KernelCall{kernel, bytes_of(arguments), rows}.
template <typename Arguments>
std::span<const std::byte> bytes_of(const Arguments& arguments) {
  return std::as_bytes(std::span(&arguments, 1));
}

}  // namespace normd
