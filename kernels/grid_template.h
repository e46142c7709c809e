// The catalog row of grid_pipeline, whose rows are shared by blocks anywhere on the device.
// Constant data and pure functions; any thread.
#pragma once

#include "kernels/template.h"

namespace normd {

Template grid_pipeline_template();

}  // namespace normd
