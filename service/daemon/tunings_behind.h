// TuningsBehind: the tunings that requests cause without waiting for them: which are under way, and
// which keys are left alone for a while because the last one failed, or because this device refused
// what it found. Safe from any thread.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "tuner/guarded.h"

namespace normd {

class TuningsBehind {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  // True: the caller begins a tuning of this key now, and says how it ended.
  bool begin(const std::string& key, Moment now);
  // Its result is served, or it could not even be queued: nothing is remembered.
  void forget(const std::string& key);
  void failed(const std::string& key, Moment now);

  // What was tuned could not be served on this device; tuning it again at once would not help
  // anybody, whoever asks.
  void refused_here(const std::string& key, Moment now);
  bool was_refused_here(const std::string& key, Moment now);

 private:
  struct Entry {
    bool under_way = false;
    bool refused_here = false;
    Moment retry_at;
  };
  void put(const std::string& key, const Entry& entry);

  Guarded<std::map<std::string, Entry>> entries_;
};

}  // namespace normd
