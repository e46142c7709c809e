// What is behind a Lease and a Store: the row that the lease holds, and the state they share.
// Inside this folder only. Any thread: the state is guarded.
#pragma once

#include <memory>
#include <string>

#include "tuner/guarded.h"
#include "tuner/store/store.h"
#include "tuner/store/store_state.h"

namespace normd {

struct Store::Shared {
  explicit Shared(StoreState opened) : reader(opened.reader()), writer(std::move(opened)) {}
  const std::shared_ptr<Guarded<StoreReader>> reader;
  Guarded<StoreState> writer;  // locked for as long as a write takes
};

struct Lease::Row {
  std::weak_ptr<Store::Shared> shared;
  std::string key;
  std::string owner;  // random: tells this lease from every other of any process
  std::int64_t ttl_ms = 0;
  std::int64_t expires_boot_ms = 0;  // 0: not taken yet

  Result<bool> take();  // or prolong; false: another owner has it, or had it once it ran out
  void release();
  Result<bool> was_anothers(Database& database, std::int64_t now_boot_ms) const;
};

std::string lease_owner();

}  // namespace normd
