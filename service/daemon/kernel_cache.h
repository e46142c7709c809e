// KernelCache: what this daemon knows of each key without asking anybody: a loaded winner, or that
// the store had none a moment ago. It is the hot path: one lookup under a lock that is held for
// nothing else. Bounded; the least recently used goes first. Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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
  // Answers meanwhile, once the tuning of this key has checked its default; null: the fallback
  // does.
  ServedKernelPointer by_default;
};

struct NotKnown {};

using Known = std::variant<NotKnown, KnownMiss, ServedKernelPointer>;

class KernelCache {
 public:
  explicit KernelCache(std::size_t entries_max) : entries_max_(entries_max) {}

  // A miss whose time is over is not known.
  Known find(const Key& key, std::chrono::steady_clock::time_point now);
  void put(const Key& key, ServedKernelPointer kernel);
  // How often anything was dropped; to be read before a kernel is looked for.
  std::uint64_t drops() const;
  // As put(), unless anything was dropped since `drops` was read: what was found then may have been
  // forgotten or quarantined meanwhile.
  void put_unless_dropped(const Key& key, ServedKernelPointer kernel, std::uint64_t drops);
  // A default that the key had stays. Returns what is known now.
  KnownMiss put_miss(const Key& key, KnownMiss miss);
  // For a key without a winner; does nothing once there is one.
  void put_default(const Key& key, ServedKernelPointer kernel);
  void drop(const Key& key);
  // The store is asked again for every key that it had no winner of.
  void expire_misses();

  struct Loaded {
    Key key;
    std::string candidate;
    std::string binary_digest;
    std::int64_t uses = 0;  // since it was loaded
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

  // The rest with the lock held; what they replace is let go of after it, in `going`.
  KnownMiss* find_miss(const Key& key);
  void put_entry(const Key& key, Known known, Entries& going);

  const std::size_t entries_max_;
  mutable std::mutex mutex_;
  std::uint64_t drops_ = 0;
  Entries entries_;
  std::unordered_map<Key, Entries::iterator, KeyHash> places_;
};

}  // namespace normd
