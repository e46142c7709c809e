// KernelLoader: from a key to a loaded kernel of one device: the store's winner, or the default of
// a tuning that is still under way. Keeps what it loads in the KernelCache, and never loads again
// what has failed on this device. Blocks in SQL and on the serving thread, so it belongs to the
// lookup thread; quarantine() may be called from any.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "service/daemon/counters.h"
#include "service/daemon/kernel_cache.h"
#include "service/daemon/log.h"
#include "service/daemon/serving_thread.h"
#include "tuner/guarded.h"
#include "tuner/tuner.h"

namespace normd {

// Whether an error of loading or launching counts against the kernel: no memory, no device or a
// stop does not.
bool kernel_at_fault(const Error& error);

class KernelLoader {
 public:
  struct Parts {
    Store* store = nullptr;
    ServingThread* serving = nullptr;
    KernelCache* cache = nullptr;
    ServingCounters* counters = nullptr;
    const Log* log = nullptr;
  };
  explicit KernelLoader(Parts parts) : parts_(parts) {}

  struct Loaded {
    ServedKernelPointer kernel;    // null: a miss
    bool unusable_winner = false;  // there is a row, but it cannot be served
    bool failed_here = false;      // sound in the store, but this device refuses it
    std::optional<Winner> winner;  // if that is what the kernel is
    std::string why;
  };
  // The stored winner, or where that has failed on this device, the best other trial of the key
  // whose binary is stored.
  Loaded load_winner(const Key& key);

  // The default that `progress` names: it has passed the gate and answers for the key until the
  // race has a winner.
  void load_default(const Key& key, const Problem& problem, const TuneProgress& progress);

  // The kernel failed on the device: it is not served again by this process.
  void quarantine(const Key& key, const std::string& binary_digest, const Error& error);
  bool is_quarantined(const std::string& binary_digest) {
    return quarantined_.lock()->contains(binary_digest);
  }

 private:
  ServedKernelPointer load_instead(const Key& key);
  Result<ServedKernelPointer> load(const Key& key, Binary binary, const Launch& launch,
                                   const Candidate& candidate);

  const Parts parts_;
  Guarded<std::set<std::string>> quarantined_;  // digests of binaries
};

}  // namespace normd
