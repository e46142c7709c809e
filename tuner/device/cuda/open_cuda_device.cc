#include "tuner/device/cuda/open_cuda_device.h"

#include "kernels/text.h"
#include "tuner/device/cuda/cuda_device.h"
#include "tuner/device/cuda/gpu_listing.h"

namespace normd {
namespace {

Result<DeviceListing> find_listing(const std::vector<DeviceListing>& listings,
                                   std::string_view name) {
  const auto ordinal = parse_integer(name);
  std::string there;
  for (const DeviceListing& listing : listings) {
    if (listing.identity.uuid == name || ordinal == listing.identity.ordinal) return listing;
    there += "; " + std::to_string(listing.identity.ordinal) + " " + listing.identity.uuid + " " +
             listing.identity.name;
  }
  return fail(ErrorCode::not_found,
              "no GPU '" + std::string(name) + "' is visible to this process. There are" + there,
              "device");
}

}  // namespace

Result<std::unique_ptr<Device>> open_cuda_device(std::string_view name,
                                                 const CudaLibraries& libraries) {
  Result<std::shared_ptr<const Driver>> driver = open_driver(libraries.driver);
  if (!driver) return fail(std::move(driver.error()));
  const Management management(libraries.management);
  const auto listings = list_driver_gpus(**driver, management);
  if (!listings) return fail(listings.error());
  Result<DeviceListing> listing = find_listing(*listings, name);
  if (!listing) return fail(std::move(listing.error()));
  Result<std::shared_ptr<CudaContext>> context =
      CudaContext::create(*driver, listing->identity.ordinal);
  if (!context) return fail(std::move(context.error()));
  return std::make_unique<CudaDevice>(*std::move(context), *listing,
                                      management.board(listing->identity.uuid));
}

Result<std::vector<DeviceListing>> list_cuda_devices(const CudaLibraries& libraries) {
  const Result<std::shared_ptr<const Driver>> driver = open_driver(libraries.driver);
  if (!driver) return fail(driver.error());
  return list_driver_gpus(**driver, Management(libraries.management));
}

}  // namespace normd
