// The handler of GetStatus: validates, asks the core, translates the answer. Runs on the core's
// control thread, since it asks the store.
#pragma once

#include "kernels/error.h"
#include "normd/v1/normd.pb.h"

namespace normd {

class Core;

Result<v1::GetStatusResponse> get_status(Core& core, const v1::GetStatusRequest& request);

}  // namespace normd
