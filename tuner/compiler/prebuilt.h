// The kernels that are compiled while the project is built and embedded into the programs: the
// fallback any_columns, the checker check_rows and the comparer compare_bytes, for every supported
// architecture and the host.
// A device of a listed architecture or a later one of the same major version gets a cubin, a newer
// one gets PTX, which its driver compiles. Constant data; any thread.
#pragma once

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "tuner/binary.h"

namespace normd {

enum class Prebuilt : std::uint8_t { any_columns = 1, check_rows = 2, compare_bytes = 3 };
inline constexpr Prebuilt all_prebuilt[] = {Prebuilt::any_columns, Prebuilt::check_rows,
                                            Prebuilt::compare_bytes};

// failed_precondition: the device is older than every architecture that was built.
Result<Binary> prebuilt_binary(Prebuilt kernel, const DeviceSpec& spec);

}  // namespace normd
