// Inspection: a read-only look at winners and trials. It opens the store's file and needs neither a
// GPU nor a daemon; only where a running daemon keeps its store in memory does it ask the daemon.
// Nothing here changes a store. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "normd/v1/normd.pb.h"
#include "service/cli/session.h"
#include "tuner/store/store.h"

namespace normd {

// A winner and its place in the listing, counted from 1.
struct ListedWinner {
  std::int64_t number = 0;
  v1::Winner winner;
};

class Inspection {
 public:
  // The store at --store or NORMD_STORE, else the running daemon's, else the one at the usual
  // place. not_found: there is none.
  static Result<Inspection> open(Session& session);

  // All winners in key order.
  Result<std::vector<ListedWinner>> winners();

  // `name` is a key's whole text, a number as `normctl ls` prints it, or words of which all occur
  // in exactly one key. not_found if none does, invalid_argument if several do.
  Result<ListedWinner> find(const std::string& name);

  Result<std::vector<v1::Trial>> trials(const std::string& key);

 private:
  Inspection() = default;
  Result<v1::ListWinnersResponse> page(const std::string& token);

  std::unique_ptr<Store> store_;
  std::optional<Client> daemon_;  // exactly one of the two is there
};

// Where the store is, by the rule above, and the daemon if one was asked.
struct StoreChoice {
  std::string directory;
  std::string from;              // "--store", "the running daemon", ...
  std::optional<Client> daemon;  // the running one, if it was asked
  bool persistent = true;        // false: only in that daemon's memory
};
StoreChoice choose_store(Session& session);

}  // namespace normd
