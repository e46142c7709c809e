#include "tuner/device/open_device.h"

#include "kernels/text.h"
#include "tuner/device/cuda/open_cuda_device.h"
#include "tuner/device/host/host_device.h"

namespace normd {

Result<std::unique_ptr<Device>> open_device(std::string_view name) {
  if (name == "host" || name.starts_with("host:")) return open_host_device(name);
  if (parse_integer(name) || name.starts_with("GPU-") || name.starts_with("MIG-")) {
    return open_cuda_device(name);
  }
  return fail(ErrorCode::invalid_argument,
              "'" + std::string(name) +
                  "' is no device: an index, a UUID (GPU-... or MIG-...), host or host:sm_90 is",
              "device");
}

Result<std::vector<DeviceListing>> list_gpus() {
  return list_cuda_devices();
}

}  // namespace normd
