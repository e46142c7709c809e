// The file in which the prebuilt kernels travel from normd_prebuild, which writes it while the
// project is built, into the programs: a text line for each kernel, a blank line, then all images
// one after the other. Pure functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "tuner/binary.h"
#include "tuner/compiler/prebuilt.h"

namespace normd {

struct PrebuiltEntry {
  Prebuilt kernel = Prebuilt::any_columns;
  Binary binary;  // its log is not kept
};

std::string_view prebuilt_name(Prebuilt kernel);  // any_columns, check_rows, compare_bytes

std::string pack_prebuilt(std::span<const PrebuiltEntry> entries);
Result<std::vector<PrebuiltEntry>> unpack_prebuilt(std::string_view archive);

// What to load on a device, by the rule of prebuilt.h; null if nothing fits.
const Binary* choose_prebuilt(std::span<const PrebuiltEntry> entries, Prebuilt kernel,
                              const DeviceSpec& spec);

}  // namespace normd
