// The catalog row of cluster_pipeline, whose rows are shared by the blocks of a cluster. Constant
// data and pure functions; any thread.
#pragma once

#include "kernels/template.h"

namespace normd {

Template cluster_pipeline_template();

}  // namespace normd
