#include "service/daemon/kernel_cache.h"

#include <algorithm>
#include <utility>

namespace normd {

// Keys of one device differ in the problem and the bucket; the fingerprint is the same for all.
std::size_t KernelCache::KeyHash::operator()(const Key& key) const {
  const Problem& problem = key.problem;
  std::size_t hash = 0;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  const auto number = [](const std::optional<DType>& dtype) {
    return dtype ? static_cast<unsigned>(*dtype) : 0u;
  };
  mix(static_cast<std::uint64_t>(problem.columns));
  mix(static_cast<std::uint64_t>(key.bucket.rows_min));
  mix(static_cast<std::uint64_t>(key.bucket.rows_max));
  mix(static_cast<unsigned>(problem.x) | static_cast<unsigned>(problem.y) << 4 |
      number(problem.gamma) << 8 | number(problem.beta) << 12 |
      static_cast<unsigned>(problem.stats) << 16 |
      static_cast<unsigned>(problem.rows_layout) << 18 | static_cast<unsigned>(key.mode) << 20 |
      static_cast<unsigned>(problem.align_bytes) << 24);
  return hash;
}

Known KernelCache::find(const Key& key, std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(key);
  if (place == places_.end()) return NotKnown{};
  entries_.splice(entries_.begin(), entries_, place->second);
  const Known& known = place->second->known;
  if (const auto* miss = std::get_if<KnownMiss>(&known); miss != nullptr && miss->until <= now) {
    return NotKnown{};
  }
  return known;
}

void KernelCache::put(const Key& key, ServedKernelPointer kernel) {
  Entries going;  // let go of after the lock: unloading is somebody else's work
  const std::lock_guard lock(mutex_);
  put_entry(key, std::move(kernel), going);
}

std::uint64_t KernelCache::drops() const {
  const std::lock_guard lock(mutex_);
  return drops_;
}

void KernelCache::put_unless_dropped(const Key& key, ServedKernelPointer kernel,
                                     std::uint64_t drops) {
  Entries going;
  const std::lock_guard lock(mutex_);
  if (drops == drops_) put_entry(key, std::move(kernel), going);
}

KnownMiss KernelCache::put_miss(const Key& key, KnownMiss miss) {
  Entries going;
  const std::lock_guard lock(mutex_);
  if (const KnownMiss* const before = find_miss(key); before != nullptr && !miss.by_default) {
    miss.by_default = before->by_default;
  }
  put_entry(key, miss, going);
  return miss;
}

void KernelCache::put_default(const Key& key, ServedKernelPointer kernel) {
  Entries going;
  const std::lock_guard lock(mutex_);
  if (KnownMiss* const miss = find_miss(key)) {
    miss->by_default = std::move(kernel);
  } else if (!places_.contains(key)) {
    // Over at once: the next request asks the store, and keeps the default.
    KnownMiss over{.key = kernel->key, .until = {}, .by_default = kernel};
    put_entry(key, std::move(over), going);
  }
}

KnownMiss* KernelCache::find_miss(const Key& key) {
  const auto place = places_.find(key);
  return place == places_.end() ? nullptr : std::get_if<KnownMiss>(&place->second->known);
}

void KernelCache::put_entry(const Key& key, Known known, Entries& going) {
  if (const auto place = places_.find(key); place != places_.end()) {
    going.splice(going.begin(), entries_, place->second);
    places_.erase(place);
  }
  entries_.push_front({key, std::move(known)});
  places_[key] = entries_.begin();
  while (entries_.size() > entries_max_) {
    places_.erase(entries_.back().key);
    going.splice(going.begin(), entries_, std::prev(entries_.end()));
  }
}

void KernelCache::drop(const Key& key) {
  Entries going;
  const std::lock_guard lock(mutex_);
  ++drops_;  // also for a key that is not here: it may be on its way
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  going.splice(going.begin(), entries_, place->second);
  places_.erase(place);
}

void KernelCache::expire_misses() {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (auto* const miss = std::get_if<KnownMiss>(&entry.known)) miss->until = {};
  }
}

std::vector<KernelCache::Loaded> KernelCache::loaded() const {
  std::vector<Loaded> all;
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (const auto* kernel = std::get_if<ServedKernelPointer>(&entry.known)) {
      all.push_back({entry.key, (*kernel)->candidate, (*kernel)->binary_digest, (*kernel)->uses});
    }
  }
  return all;
}

std::size_t KernelCache::kernels() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(),
      [](const Entry& entry) { return std::holds_alternative<ServedKernelPointer>(entry.known); }));
}

}  // namespace normd
