#include "service/daemon/store_watch.h"

namespace normd {

void StoreWatch::look(const StoreStatus& status) {
  if (status.set_aside != set_aside_) {
    log_.warning("store_set_aside", {{"as", status.set_aside}});
    set_aside_ = status.set_aside;
  }
  if (status.persistent != persistent_) {
    if (status.persistent) {
      log_.info("store_persistent", {{"path", status.path}});
    } else {
      log_.warning("store_degraded",
                   {{"reason", status.degraded_reason}, {"rows_waiting", status.rows_waiting}});
    }
    persistent_ = status.persistent;
  }
  if (status.rows_evicted != rows_evicted_) {
    log_.info("store_evicted",
              {{"rows", status.rows_evicted - rows_evicted_}, {"limit", "store_bytes_max"}});
    rows_evicted_ = status.rows_evicted;
  }
}

}  // namespace normd
