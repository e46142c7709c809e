#include "tuner/device/host/host_device.h"

#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "kernels/check.h"
#include "tuner/device/host/block_runner.h"
#include "tuner/device/host/host_kernel.h"
#include "tuner/device/host/sparse_memory.h"

namespace normd {
namespace {

// As the interface promises, and as the driver does.
constexpr std::size_t alignment_bytes = 256;

// On the heap and exactly as long as asked for, so that the address sanitizer guards it. `taken` is
// the device's count of bytes, or null for staging memory, which is not the device's.
class HostMemory final : public Memory {
 public:
  HostMemory(void* address, std::size_t bytes, std::size_t* taken)
      : address_(address), bytes_(bytes), taken_(taken) {
    if (taken_ != nullptr) *taken_ += bytes_;
  }
  ~HostMemory() override {
    if (taken_ != nullptr) *taken_ -= bytes_;
    std::free(address_);
  }
  HostMemory(const HostMemory&) = delete;  // it would be freed twice
  HostMemory& operator=(const HostMemory&) = delete;
  void* address() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  void* address_;
  std::size_t bytes_;
  std::size_t* taken_;
};

struct OwnedKernelCall {
  HostKernel* kernel;
  std::vector<std::byte> arguments;  // on the heap: reading beyond the struct is seen
  std::int64_t rows;
};

class HostSequence final : public Sequence {
 public:
  std::vector<std::variant<OwnedKernelCall, CopyCall>> calls;
};

class HostDevice final : public Device {
 public:
  HostDevice(DeviceSpec spec, HostSchedule schedule) : spec_(std::move(spec)), runner_(schedule) {}
  ~HostDevice() override { NORMD_CHECK(memory_bytes_taken_ == 0); }  // it would count into nothing

  const DeviceSpec& spec() const override { return spec_; }
  const DeviceIdentity& identity() const override { return identity_; }

  Result<std::unique_ptr<Kernel>> load(const Binary& binary, const Launch& launch) override {
    return HostKernel::load(binary, launch, spec_);
  }

  Result<std::unique_ptr<Memory>> allocate(std::size_t bytes) override {
    const auto memory_bytes = static_cast<std::size_t>(spec_.memory_bytes);
    if (bytes > memory_bytes - memory_bytes_taken_) {
      return fail(ErrorCode::resource_exhausted,
                  "allocating " + std::to_string(bytes) +
                      " bytes on the host device: " + std::to_string(memory_bytes_taken_) +
                      " of its " + std::to_string(memory_bytes) + " bytes are taken");
    }
    return allocate_counted(bytes, &memory_bytes_taken_);
  }
  Result<std::unique_ptr<Memory>> allocate_sparse(std::size_t bytes,
                                                  std::span<const Stretch> stretches) override {
    return allocate_sparse_memory(bytes, stretches);
  }
  Result<std::unique_ptr<Memory>> allocate_staging(std::size_t bytes) override {
    return allocate_counted(bytes, nullptr);
  }

  Result<void> copy_in(void* device_to, const void* host_from, std::size_t bytes) override {
    return copy_within(device_to, host_from, bytes);
  }
  Result<void> copy_out(void* host_to, const void* device_from, std::size_t bytes) override {
    return copy_within(host_to, device_from, bytes);
  }
  Result<void> copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);  // memcpy of nothing may not be given null
    return {};
  }
  Result<void> fill(void* device_to, unsigned char byte, std::size_t bytes) override {
    if (bytes > 0) std::memset(device_to, byte, bytes);
    return {};
  }

  Result<void> launch(const KernelCall& call) override { return run(owned(call)); }
  Result<void> synchronize() override { return {}; }

  Result<std::unique_ptr<Sequence>> record(std::span<const Call> calls) override;
  Result<double> replay_ns(Sequence& sequence) override;
  DeviceCondition condition() override { return {}; }  // the host's clocks say nothing of a GPU's

 private:
  static Result<std::unique_ptr<Memory>> allocate_counted(std::size_t bytes, std::size_t* taken);
  static OwnedKernelCall owned(const KernelCall& call);
  Result<void> run(const OwnedKernelCall& call);
  Result<void> check_limits(const Launch& launch) const;

  DeviceSpec spec_;
  DeviceIdentity identity_{.name = "host", .uuid = "host", .driver = "none"};
  std::size_t memory_bytes_taken_ = 0;
  BlockRunner runner_;
};

Result<std::unique_ptr<Memory>> HostDevice::allocate_counted(std::size_t bytes,
                                                             std::size_t* taken) {
  void* address = nullptr;
  if (posix_memalign(&address, alignment_bytes, bytes) != 0) {
    return fail(ErrorCode::resource_exhausted,
                "allocating " + std::to_string(bytes) + " bytes on the host device: out of memory");
  }
  return std::make_unique<HostMemory>(address, bytes, taken);
}

OwnedKernelCall HostDevice::owned(const KernelCall& call) {
  auto* kernel = dynamic_cast<HostKernel*>(call.kernel);
  NORMD_CHECK(kernel != nullptr);  // a kernel of another device
  return {kernel, {call.arguments.begin(), call.arguments.end()}, call.rows};
}

Result<void> HostDevice::check_limits(const Launch& launch) const {
  const auto over = [&](const char* what, int asked, int limit) {
    return fail(ErrorCode::failed_precondition, "launching " + launch.entries.front() + " on " +
                                                    spec_.name + ": " + std::to_string(asked) +
                                                    " " + what + " are over the limit of " +
                                                    std::to_string(limit));
  };
  if (launch.block > spec_.threads_per_block_max) {
    return over("threads per block", launch.block, spec_.threads_per_block_max);
  }
  if (launch.shared_bytes > spec_.shared_bytes_per_block_max) {
    return over("shared bytes per block", launch.shared_bytes, spec_.shared_bytes_per_block_max);
  }
  return {};
}

Result<void> HostDevice::run(const OwnedKernelCall& call) {
  const Launch& launch = call.kernel->launch();
  const std::int64_t blocks = grid_blocks(launch, call.rows);
  if (blocks == 0) return {};
  if (auto covered = covers(launch, call.rows); !covered) return covered;
  if (auto within = check_limits(launch); !within) return within;
  for (std::size_t i = 0; i < launch.entries.size(); ++i) {
    const Grid grid{.name = launch.entries[i],
                    .entry = call.kernel->entries()[i],
                    .arguments = call.arguments.data(),
                    .blocks = blocks,
                    .cluster = launch.cooperative ? static_cast<int>(blocks) : launch.cluster,
                    .threads = launch.block,
                    .shared_bytes = static_cast<std::size_t>(launch.shared_bytes)};
    if (auto done = runner_.run(grid); !done) return done;
  }
  return {};
}

Result<std::unique_ptr<Sequence>> HostDevice::record(std::span<const Call> calls) {
  auto sequence = std::make_unique<HostSequence>();
  for (const Call& call : calls) {
    if (const auto* kernel_call = std::get_if<KernelCall>(&call)) {
      sequence->calls.emplace_back(owned(*kernel_call));
    } else {
      sequence->calls.emplace_back(std::get<CopyCall>(call));
    }
  }
  return sequence;
}

Result<double> HostDevice::replay_ns(Sequence& sequence) {
  auto* recorded = dynamic_cast<HostSequence*>(&sequence);
  NORMD_CHECK(recorded != nullptr);  // a sequence of another device
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& call : recorded->calls) {
    const auto* kernel_call = std::get_if<OwnedKernelCall>(&call);
    const auto* copy = std::get_if<CopyCall>(&call);
    auto done =
        kernel_call != nullptr ? run(*kernel_call) : copy_within(copy->to, copy->from, copy->bytes);
    if (!done) return fail(std::move(done.error()));
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count();
}

}  // namespace

Result<std::unique_ptr<Device>> open_host_device(std::string_view name, HostSchedule schedule) {
  constexpr std::string_view as_chip = "host:";
  std::optional<DeviceSpec> chip;
  if (name.starts_with(as_chip)) chip = architecture_preset(name.substr(as_chip.size()));
  if (name != "host" && !chip) {
    std::string known;
    for (const std::string& architecture : supported_architectures()) {
      known += " host:" + architecture;
    }
    return fail(ErrorCode::invalid_argument,
                "no host device " + std::string(name) + "; there are host" + known, "device");
  }
  return std::make_unique<HostDevice>(host_device_spec(chip), schedule);
}

}  // namespace normd
