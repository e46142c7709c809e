#include "tuner/device/cuda/cuda_kernel.h"

#include <algorithm>
#include <utility>

#include "kernels/text.h"

namespace normd {
namespace {

// More than this much shared memory must be asked for, on every architecture.
constexpr int shared_bytes_without_opt_in = 48 * 1024;

// Larger clusters are not portable and must be allowed explicitly.
constexpr int cluster_blocks_portable = 8;

// The CUDA version that records programmatic launches in graphs, and the compute capability whose
// texts wait for their stream: a compiler that is older than the device may have made it less.
constexpr int programmatic_since = 12030;
constexpr int waiting_since = 90;

// The launch as the driver can have it.
Launch possible(Launch launch, const Driver& driver, const Binary& binary) {
  const std::size_t at = binary.target.find('_');
  const auto made_for =
      parse_integer(at == std::string::npos ? std::string_view{}
                                            : std::string_view(binary.target).substr(at + 1));
  launch.programmatic = launch.programmatic && driver.cuda_version >= programmatic_since &&
                        made_for.value_or(0) >= waiting_since;
  return launch;
}

// The driver's complaint about an image, with what decides it: who made it and who reads it.
Error load_error(const Driver& driver, CUresult result, const Binary& binary,
                 const DeviceListing& device, const std::string& log) {
  Error error;
  const auto checked =
      driver.check(result, "loading " + binary.entry + " on " + device.spec.architecture());
  if (!checked) error = checked.error();
  const std::string made = std::string(binary_format_name(binary.format)) + " for " +
                           binary.target + " by " + binary.compiler;
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    error.message = "the driver, CUDA " + device.identity.driver + ", is older than the PTX of " +
                    binary.entry + " (" + made +
                    "): a driver at least as new as the compiler, or " +
                    "an NVRTC no newer than the driver, is needed. " + driver.words_of(result);
  } else if (error.code == ErrorCode::failed_precondition) {
    error.message += "; it is a " + made + ", the driver is CUDA " + device.identity.driver;
  }
  if (!log.empty()) error.message += "\n" + log;
  return error;
}

Result<CudaModule> load_module(const std::shared_ptr<const CudaContext>& context,
                               const Binary& binary, const DeviceListing& device) {
  std::array<char, 8192> log{};
  std::array<CUjit_option, 2> names = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule raw = nullptr;
  const Driver& driver = context->driver();
  // std::string ends in a zero byte, as the driver wants it of PTX.
  const CUresult result = driver.module_load_data(
      &raw, binary.bytes.c_str(), static_cast<unsigned>(names.size()), names.data(), values.data());
  if (result != CUDA_SUCCESS) {
    log.back() = '\0';
    return fail(load_error(driver, result, binary, device, log.data()));
  }
  return CudaModule(raw, {.context = context, .close = driver.module_unload});
}

Result<void> check_limits(const Launch& launch, const DeviceSpec& spec) {
  if (launch.shared_bytes > spec.shared_bytes_per_block_max) {
    return fail(ErrorCode::failed_precondition,
                std::to_string(launch.shared_bytes) +
                    " bytes of shared memory per block: " + spec.architecture() + " has " +
                    std::to_string(spec.shared_bytes_per_block_max));
  }
  if (launch.block < 1 || launch.block > spec.threads_per_block_max) {
    return fail(ErrorCode::failed_precondition,
                std::to_string(launch.block) + " threads per block: " + spec.architecture() +
                    " takes 1 to " + std::to_string(spec.threads_per_block_max));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<CudaKernel>> CudaKernel::load(std::shared_ptr<const CudaContext> context,
                                                     const Binary& binary, const Launch& launch,
                                                     const DeviceListing& device) {
  if (auto fits = check_limits(launch, device.spec); !fits) {
    return fail(ErrorCode::failed_precondition, binary.entry + " asks for " + fits.error().message);
  }
  if (auto current = context->make_current(); !current) return fail(std::move(current.error()));
  Result<CudaModule> module = load_module(context, binary, device);
  if (!module) return fail(std::move(module.error()));
  const Launch fitting = possible(launch, context->driver(), binary);
  std::unique_ptr<CudaKernel> kernel(
      new CudaKernel(std::move(context), *std::move(module), fitting));
  if (auto found = kernel->find_entries(binary.entry); !found)
    return fail(std::move(found.error()));
  for (std::size_t i = 0; i < kernel->functions_.size(); ++i) {
    auto ready = kernel->prepare_entry(kernel->functions_[i], kernel->entry_names_[i], device.spec);
    if (!ready) return fail(std::move(ready.error()));
  }
  return kernel;
}

CudaKernel::CudaKernel(std::shared_ptr<const CudaContext> context, CudaModule module,
                       const Launch& launch)
    : context_(std::move(context)), module_(std::move(module)), launch_(launch) {
  unsigned count = 0;
  if (launch_.cluster > 1) {
    CUlaunchAttribute& cluster = attributes_[count++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = static_cast<unsigned>(launch_.cluster);
    cluster.value.clusterDim.y = 1;
    cluster.value.clusterDim.z = 1;
  }
  if (launch_.cooperative) {
    CUlaunchAttribute& cooperative = attributes_[count++];
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
  }
  if (launch_.programmatic) {
    CUlaunchAttribute& programmatic = attributes_[count++];
    programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    programmatic.value.programmaticStreamSerializationAllowed = 1;
  }
  config_.gridDimX = static_cast<unsigned>(launch_.cluster);
  config_.gridDimY = 1;
  config_.gridDimZ = 1;
  config_.blockDimX = static_cast<unsigned>(launch_.block);
  config_.blockDimY = 1;
  config_.blockDimZ = 1;
  config_.sharedMemBytes = static_cast<unsigned>(launch_.shared_bytes);
  config_.hStream = context_->stream();
  config_.attrs = count > 0 ? attributes_.data() : nullptr;
  config_.numAttrs = count;
}

Result<void> CudaKernel::find_entries(const std::string& entry) {
  entry_names_ = launch_.entries.empty() ? std::vector<std::string>{entry} : launch_.entries;
  for (const std::string& name : entry_names_) {
    CUfunction function = nullptr;
    const CUresult result =
        context_->driver().module_get_function(&function, module_.get(), name.c_str());
    if (auto found = context_->check(result, "looking for the kernel " + name); !found)
      return found;
    functions_.push_back(function);
  }
  return {};
}

Result<int> CudaKernel::attribute(CUfunction function, CUfunction_attribute name) const {
  int value = 0;
  const CUresult result = context_->driver().function_get_attribute(&value, name, function);
  if (auto read = context_->check(result, "reading the resources of a kernel"); !read) {
    return fail(std::move(read.error()));
  }
  return value;
}

Result<void> CudaKernel::prepare_entry(CUfunction function, const std::string& entry,
                                       const DeviceSpec& spec) {
  const Result<int> fixed = attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  if (!fixed) return fail(fixed.error());
  const int shared_bytes = *fixed + launch_.shared_bytes;
  if (shared_bytes > spec.shared_bytes_per_block_max) {
    return fail(
        ErrorCode::failed_precondition,
        entry + " needs " + std::to_string(shared_bytes) +
            " bytes of shared memory per block, its own variables counted: " + spec.architecture() +
            " has " + std::to_string(spec.shared_bytes_per_block_max));
  }
  if (shared_bytes > shared_bytes_without_opt_in) {
    const CUresult result = context_->driver().function_set_attribute(
        function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch_.shared_bytes);
    auto allowed =
        context_->check(result, "allowing " + entry + " " + std::to_string(launch_.shared_bytes) +
                                    " bytes of dynamic shared memory");
    if (!allowed) return allowed;
  }
  if (auto measured = measure_resources(function, entry); !measured) return measured;
  if (launch_.cluster > 1) return check_cluster(function, entry);
  limit_to(std::int64_t{resources_.blocks_per_sm} * spec.sm_count);
  return {};
}

void CudaKernel::limit_to(std::int64_t resident_blocks) {
  if (launch_.resident) launch_.blocks_max = std::min(launch_.blocks_max, resident_blocks);
}

Result<void> CudaKernel::measure_resources(CUfunction function, const std::string& entry) {
  const Result<int> registers = attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  const Result<int> local_bytes = attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  if (!registers) return fail(registers.error());
  if (!local_bytes) return fail(local_bytes.error());
  int blocks_per_sm = 0;
  const CUresult result = context_->driver().occupancy_blocks(
      &blocks_per_sm, function, launch_.block, static_cast<std::size_t>(launch_.shared_bytes));
  if (auto read = context_->check(result, "working out the occupancy of " + entry); !read) {
    return read;
  }
  if (blocks_per_sm == 0) {
    return fail(ErrorCode::failed_precondition,
                entry + ": not one block of " + std::to_string(launch_.block) + " threads with " +
                    std::to_string(*registers) + " registers each and " +
                    std::to_string(launch_.shared_bytes) + " bytes of shared memory fits an SM");
  }
  if (context_->driver().function_get_parameter != nullptr) {
    std::size_t offset = 0;
    context_->driver().function_get_parameter(function, 0, &offset, &argument_bytes_);
  }
  // Over several entries: the hungriest of each.
  resources_.registers = std::max(resources_.registers, *registers);
  resources_.local_bytes = std::max(resources_.local_bytes, *local_bytes);
  resources_.blocks_per_sm = resources_.blocks_per_sm == 0
                                 ? blocks_per_sm
                                 : std::min(resources_.blocks_per_sm, blocks_per_sm);
  return {};
}

Result<void> CudaKernel::check_cluster(CUfunction function, const std::string& entry) {
  const std::string blocks = std::to_string(launch_.cluster);
  if (launch_.cluster > cluster_blocks_portable) {
    const CUresult result = context_->driver().function_set_attribute(
        function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    auto allowed = context_->check(result, "allowing " + entry + " clusters of " + blocks);
    if (!allowed) return allowed;
  }
  int clusters = 0;
  const CUresult result = context_->driver().occupancy_clusters(&clusters, function, &config_);
  auto read = context_->check(result, "working out how many clusters of " + blocks + " blocks of " +
                                          entry + " the GPU holds");
  if (read && clusters == 0) {
    return fail(ErrorCode::failed_precondition,
                entry + ": not one cluster of " + blocks + " blocks fits the GPU");
  }
  if (read) limit_to(std::int64_t{clusters} * launch_.cluster);
  return read;
}

Result<void> CudaKernel::enqueue(std::span<const std::byte> arguments, std::int64_t rows) {
  const std::int64_t blocks = grid_blocks(launch_, rows);
  if (blocks == 0) return {};
  if (auto covered = covers(launch_, rows); !covered) return covered;
  if (argument_bytes_ != 0 && argument_bytes_ != arguments.size()) {
    return fail(ErrorCode::failed_precondition,
                entry_names_.front() + " was compiled with an argument of " +
                    std::to_string(argument_bytes_) + " bytes and given one of " +
                    std::to_string(arguments.size()));
  }
  config_.gridDimX = static_cast<unsigned>(blocks);
  // The driver copies the argument before it returns, and only reads it.
  void* parameters[] = {const_cast<std::byte*>(arguments.data())};
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const CUresult result =
        context_->driver().launch_kernel(&config_, functions_[i], parameters, nullptr);
    if (result == CUDA_SUCCESS) [[likely]]
      continue;
    return context_->check(result, "launching " + entry_names_[i] + " for " + std::to_string(rows) +
                                       " rows with " + to_text(launch_));
  }
  return {};
}

}  // namespace normd
