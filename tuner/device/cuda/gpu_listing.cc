#include "tuner/device/cuda/gpu_listing.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace normd {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

// The open bucket is measured at 128 MiB: larger than every L2 cache so far, and small enough that
// a sixteenth of the device's memory holds it.
constexpr std::int64_t measure_bytes_max = 128 * mib;

// Reads attributes one after the other and keeps the first failure.
class AttributeReader {
 public:
  AttributeReader(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {}

  int read(CUdevice_attribute attribute) {
    int value = 0;
    const CUresult result = driver_.device_get_attribute(&value, attribute, device_);
    if (result == CUDA_SUCCESS) return value;
    if (first_failure_) {
      first_failure_ = driver_.check(
          result, "reading attribute " + std::to_string(static_cast<int>(attribute)) + " of a GPU");
    }
    return 0;
  }

  Result<void> finish() const { return first_failure_; }

 private:
  const Driver& driver_;
  CUdevice device_;
  Result<void> first_failure_;
};

Result<DeviceSpec> read_spec(const Driver& driver, CUdevice device, const std::string& name) {
  AttributeReader reader(driver, device);
  std::size_t memory_bytes = 0;
  const CUresult result = driver.device_total_memory(&memory_bytes, device);
  if (auto read = driver.check(result, "reading the memory size of " + name); !read) {
    return fail(std::move(read.error()));
  }
  DeviceSpec spec;
  spec.kind = DeviceKind::cuda;
  spec.name = name;
  spec.capability = reader.read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                    reader.read(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  spec.sm_count = reader.read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  spec.threads_per_block_max = reader.read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  spec.threads_per_sm_max = reader.read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  spec.blocks_per_sm_max = reader.read(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  spec.registers_per_sm = reader.read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  spec.shared_bytes_per_block_max =
      reader.read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  spec.shared_bytes_per_sm = reader.read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  spec.l2_bytes = reader.read(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  spec.memory_bytes = static_cast<std::int64_t>(memory_bytes);
  spec.sm_clock_mhz = reader.read(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  spec.memory_clock_mhz = reader.read(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1000;
  spec.memory_bus_bits = reader.read(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  spec.vector_bytes_max = spec.capability >= 100 ? 32 : 16;
  spec.measure_bytes = std::min(measure_bytes_max, spec.memory_bytes / 16);
  if (auto read = reader.finish(); !read) return fail(std::move(read.error()));
  return spec;
}

Result<DeviceIdentity> read_identity(const Driver& driver, CUdevice device, int ordinal) {
  DeviceIdentity identity{.ordinal = ordinal};
  std::array<char, 256> name{};
  CUuuid board{};
  CUuuid own{};
  CUresult result = driver.device_get_name(name.data(), static_cast<int>(name.size()), device);
  if (result == CUDA_SUCCESS) result = driver.device_get_board_uuid(&board, device);
  if (result == CUDA_SUCCESS) result = driver.device_get_uuid(&own, device);
  const std::string tried = "reading name and UUID of GPU " + std::to_string(ordinal);
  if (auto read = driver.check(result, tried); !read) return fail(std::move(read.error()));
  identity.name = name.data();
  // The two differ exactly on a MIG slice, which has an identity of its own on its board. Its
  // profile ends the name: "NVIDIA H200 MIG 1g.18gb".
  const bool mig = std::memcmp(&board, &own, sizeof own) != 0;
  identity.uuid = uuid_text(own, mig);
  if (mig) {
    const std::size_t at = identity.name.find(" MIG ");
    identity.mig = at == std::string::npos ? "slice" : identity.name.substr(at + 5);
    std::ranges::replace(identity.mig, ' ', '_');
  }
  return identity;
}

Result<DeviceListing> read_gpu(const Driver& driver, int ordinal, const Management& management) {
  CUdevice device = 0;
  const CUresult result = driver.device_get(&device, ordinal);
  if (auto got = driver.check(result, "opening GPU " + std::to_string(ordinal)); !got) {
    return fail(std::move(got.error()));
  }
  Result<DeviceIdentity> identity = read_identity(driver, device, ordinal);
  if (!identity) return fail(std::move(identity.error()));
  Result<DeviceSpec> spec = read_spec(driver, device, identity->name);
  if (!spec) return fail(std::move(spec.error()));
  const BoardFacts facts = management.board(identity->uuid).facts();
  identity->power_limit_w = facts.power_limit_w;
  identity->driver = driver.cuda_version_text();
  if (!facts.driver_version.empty()) identity->driver += " (" + facts.driver_version + ")";
  // Some integrated and virtual GPUs report no clocks to the driver.
  if (spec->sm_clock_mhz == 0) spec->sm_clock_mhz = facts.sm_clock_mhz;
  if (spec->memory_clock_mhz == 0) spec->memory_clock_mhz = facts.memory_clock_mhz;
  return DeviceListing{.identity = *std::move(identity), .spec = *std::move(spec)};
}

}  // namespace

std::string uuid_text(const CUuuid& uuid, bool mig) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = mig ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Result<std::vector<DeviceListing>> list_driver_gpus(const Driver& driver,
                                                    const Management& management) {
  int count = 0;
  if (auto counted = driver.check(driver.device_get_count(&count), "counting the GPUs"); !counted) {
    return fail(std::move(counted.error()));
  }
  std::vector<DeviceListing> listings;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Result<DeviceListing> listing = read_gpu(driver, ordinal, management);
    if (!listing) return fail(std::move(listing.error()));
    listings.push_back(*std::move(listing));
  }
  return listings;
}

}  // namespace normd
