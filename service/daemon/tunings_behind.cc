#include "service/daemon/tunings_behind.h"

namespace normd {
namespace {

// A tuning that failed is not started again by every request for its shape: without a compiler,
// say, each would fail alike.
constexpr std::chrono::seconds retry_after{60};

// Keys remembered. Beyond it all are forgotten, and tried again.
constexpr std::size_t entries_max = 4096;

}  // namespace

bool TuningsBehind::begin(const std::string& key, Moment now) {
  const auto entries = entries_.lock();
  Entry& entry = (*entries)[key];
  if (entry.under_way || now < entry.retry_at) return false;
  entry.under_way = true;
  return true;
}

void TuningsBehind::forget(const std::string& key) {
  entries_.lock()->erase(key);
}

void TuningsBehind::failed(const std::string& key, Moment now) {
  put(key, {.retry_at = now + retry_after});
}

void TuningsBehind::refused_here(const std::string& key, Moment now) {
  put(key, {.refused_here = true, .retry_at = now + retry_after});
}

bool TuningsBehind::was_refused_here(const std::string& key, Moment now) {
  const auto entries = entries_.lock();
  const auto found = entries->find(key);
  return found != entries->end() && found->second.refused_here && now < found->second.retry_at;
}

void TuningsBehind::put(const std::string& key, const Entry& entry) {
  const auto entries = entries_.lock();
  if (entries->size() > entries_max) entries->clear();
  (*entries)[key] = entry;
}

}  // namespace normd
