#include "service/daemon/handlers/forget.h"

#include "service/daemon/core.h"
#include "service/daemon/wire.h"

namespace normd {

Result<v1::ForgetResponse> forget(Core& core, const v1::ForgetRequest& request) {
  const auto key = read_key(request.key());
  if (!key) return fail(key.error());
  const auto removed = core.forget(*key);
  if (!removed) return fail(removed.error());
  core.log().info("forgotten", {{"key", request.key()}, {"rows", *removed}});
  v1::ForgetResponse response;
  response.set_rows_removed(*removed);
  return response;
}

}  // namespace normd
