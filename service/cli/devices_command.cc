#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/quantity.h"
#include "service/cli/table.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

DeviceListing host_listing() {
  return {.identity = {.name = "the CPU, for tests and demos", .uuid = "host"},
          .spec = host_device_spec()};
}

nlohmann::json listing_json(const DeviceListing& listing) {
  const DeviceSpec& spec = listing.spec;
  return {{"index", listing.identity.ordinal},
          {"uuid", listing.identity.uuid},
          {"name", listing.identity.name},
          {"kind", spec.kind == DeviceKind::host ? "host" : "cuda"},
          {"driver", listing.identity.driver},
          {"mig", listing.identity.mig},
          {"power_limit_w", listing.identity.power_limit_w},
          {"architecture", spec.architecture()},
          {"sm_count", spec.sm_count},
          {"memory_bytes", spec.memory_bytes},
          {"l2_bytes", spec.l2_bytes},
          {"sm_clock_mhz", spec.sm_clock_mhz},
          {"memory_clock_mhz", spec.memory_clock_mhz},
          {"memory_bus_bits", spec.memory_bus_bits}};
}

void add_row(Table& table, const DeviceListing& listing) {
  const DeviceSpec& spec = listing.spec;
  const bool host = spec.kind == DeviceKind::host;
  const double gigabytes_per_second = spec.memory_bytes_per_ns();
  table.add({host ? "host" : std::to_string(listing.identity.ordinal),
             escaped(listing.identity.name), escaped(listing.identity.uuid), spec.architecture(),
             host ? "" : std::to_string(spec.sm_count), host ? "" : format_bytes(spec.memory_bytes),
             host ? "" : format_bytes(spec.l2_bytes),
             host ? "" : format_fixed(gigabytes_per_second, 0), escaped(listing.identity.driver)});
}

}  // namespace

ExitStatus devices_command(Session& session) {
  const Result<std::vector<DeviceListing>> gpus = list_gpus();
  std::vector<DeviceListing> all;
  if (gpus) all = *gpus;
  all.push_back(host_listing());
  if (session.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const DeviceListing& listing : all) list.push_back(listing_json(listing));
    nlohmann::json object = {{"devices", std::move(list)}};
    if (!gpus) object["no_gpu_because"] = gpus.error().message;
    print_json(session, std::move(object));
    return ExitStatus::ok;
  }
  Table table({{"device", Alignment::right},
               {"name"},
               {"uuid"},
               {"architecture"},
               {"SMs", Alignment::right},
               {"memory", Alignment::right},
               {"L2", Alignment::right},
               {"GB/s", Alignment::right},
               {"driver"}});
  for (const DeviceListing& listing : all) add_row(table, listing);
  session.out << table.text(session.color());
  if (!gpus) session.err << "no GPU: " << escaped(gpus.error().message) << "\n";
  return ExitStatus::ok;
}

}  // namespace normd
