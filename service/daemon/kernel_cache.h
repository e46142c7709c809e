// KernelCache: what this daemon knows of each key without asking anybody: a loaded winner, or that
// the store had none a moment ago. It is the hot path: one lookup under a lock that is held for
// nothing else. Bounded; the least recently used goes first. Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kernels/key.h"
#include "service/daemon/served_kernel.h"

namespace normd {

// A key that the store was asked for and had no usable winner of; asked again after `until`.
struct KnownMiss {
  std::string key;  // canonical text, for the answers of the fallback
  std::chrono::steady_clock::time_point until;
};

struct NotKnown {};

using Known = std::variant<NotKnown, KnownMiss, ServedKernelPointer>;

class KernelCache {
 public:
  explicit KernelCache(std::size_t entries_max) : entries_max_(entries_max) {}

  // A miss whose time is over is not known.
  Known find(const Key& key, std::chrono::steady_clock::time_point now);
  void put(const Key& key, ServedKernelPointer kernel);
  void put_miss(const Key& key, KnownMiss miss);
  void drop(const Key& key);
  void drop_misses();

  struct Loaded {
    Key key;
    std::string candidate;
    std::string binary_digest;
  };
  std::vector<Loaded> loaded() const;
  std::size_t kernels() const;

 private:
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Entry {
    Key key;
    Known known;
  };
  using Entries = std::list<Entry>;  // most recently used first

  void put_entry(const Key& key, Known known);

  const std::size_t entries_max_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<Key, Entries::iterator, KeyHash> places_;
};

}  // namespace normd
