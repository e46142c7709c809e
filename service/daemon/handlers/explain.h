// The handler of Explain: validates, asks the core, translates the answer. Runs on the core's
// control thread, because it reads the store.
#pragma once

#include "kernels/error.h"
#include "normd/v1/normd.pb.h"

namespace normd {

class Core;

Result<v1::ExplainResponse> explain(Core& core, const v1::ExplainRequest& request);

}  // namespace normd
