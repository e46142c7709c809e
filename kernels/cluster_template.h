// The catalog rows of the templates whose rows are shared by the blocks of a cluster. Constant data
// and pure functions; any thread.
#pragma once

#include <cstdint>

#include "kernels/device_spec.h"
#include "kernels/template.h"

namespace normd {

Template cluster_pipeline_template();
Template cluster_registers_template();

// Blocks of the largest cluster; 0 where there are none.
int cluster_max(const DeviceSpec& spec);

// As PartMessages of templates/cluster_moments.cuh lies in shared memory.
std::int64_t message_bytes(int parts, int sides);

}  // namespace normd
