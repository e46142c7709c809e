#include "service/cli/inspection.h"

#include <algorithm>

#include "kernels/text.h"
#include "service/cli/problem_flags.h"
#include "service/cli/stored.h"

namespace normd {
namespace {

constexpr int page_size = 1000;
constexpr std::string_view store_file = "/normd.db";

bool holds_all_words(const std::string& text, const std::string& words) {
  const std::vector<std::string_view> wanted = split(words, ' ');
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

tl::unexpected<Error> ambiguous(const std::string& name, const std::vector<ListedWinner>& found) {
  std::string message = "\"" + name + "\" fits " + std::to_string(found.size()) +
                        " keys; add words, or give the number that normctl ls prints:";
  constexpr std::size_t shown_max = 5;
  for (std::size_t i = 0; i < std::min(found.size(), shown_max); ++i) {
    message += "\n  " + std::to_string(found[i].number) + "  " + found[i].winner.key();
  }
  if (found.size() > shown_max) message += "\n  ...";
  return fail(ErrorCode::invalid_argument, message, "KEY");
}

}  // namespace

StoreChoice choose_store(Session& session) {
  const PlaceVariables& variables = session.surroundings.variables;
  const Place place = store_place(session.store, variables);
  StoreChoice choice{.directory = place.path, .from = place.from};
  if (!session.store.empty() || !variables.normd_store.empty()) return choice;
  Result<Client> daemon = connect_daemon(session);
  if (!daemon) return choice;
  const Result<v1::GetStatusResponse> status = daemon->status();
  if (!status) return choice;
  choice.directory = status->store().path();
  choice.from = "the running daemon";
  choice.persistent = status->store().persistent();
  choice.daemon = std::move(*daemon);
  if (choice.directory.ends_with(store_file)) {
    choice.directory.resize(choice.directory.size() - store_file.size());
  }
  return choice;
}

Result<Inspection> Inspection::open(Session& session) {
  StoreChoice choice = choose_store(session);
  Inspection inspection;
  if (!choice.persistent) {
    note(session, "the daemon keeps its store in memory; asking the daemon");
    inspection.daemon_ = std::move(choice.daemon);
    return inspection;
  }
  note(session, "store " + choice.directory + " (" + choice.from + ")");
  Result<std::unique_ptr<Store>> store = Store::open(choice.directory, Store::Mode::read_only);
  if (!store) return fail(store.error());
  inspection.store_ = *std::move(store);
  return inspection;
}

// A page of the store in the daemon's form: the token is the last key of the page before.
Result<v1::ListWinnersResponse> Inspection::page(const std::string& token) {
  if (daemon_) {
    v1::ListWinnersRequest request;
    request.set_page_size(page_size);
    request.set_page_token(token);
    return daemon_->list_winners(request);
  }
  const auto stored = store_->list_winners({.after = token, .limit = page_size});
  if (!stored) return fail(stored.error());
  v1::ListWinnersResponse response;
  for (const Winner& winner : *stored) *response.add_winners() = to_message(winner);
  if (stored->size() == page_size) {
    response.set_next_page_token(response.winners(page_size - 1).key());
  }
  return response;
}

Result<std::vector<ListedWinner>> Inspection::winners() {
  std::vector<ListedWinner> listed;
  std::string token;
  do {
    Result<v1::ListWinnersResponse> response = page(token);
    if (!response) return fail(response.error());
    for (v1::Winner& winner : *response->mutable_winners()) {
      listed.push_back(
          {.number = static_cast<std::int64_t>(listed.size()) + 1, .winner = std::move(winner)});
    }
    // Pages go forward in key order; a daemon that repeats one would keep us here for ever.
    if (!response->next_page_token().empty() && response->next_page_token() <= token) {
      return fail(ErrorCode::internal, "the daemon's pages do not go forward");
    }
    token = response->next_page_token();
  } while (!token.empty());
  return listed;
}

Result<ListedWinner> Inspection::find(const std::string& name) {
  Result<std::vector<ListedWinner>> all = winners();
  if (!all) return fail(all.error());
  const std::optional<std::int64_t> number = parse_integer(name);
  std::vector<ListedWinner> found;
  for (ListedWinner& listed : *all) {
    if (listed.winner.key() == name || (number && listed.number == *number)) return listed;
    if (!number && holds_all_words(listed.winner.key(), name)) found.push_back(std::move(listed));
  }
  if (found.empty()) {
    const std::string what = number ? "the number " + name : "\"" + name + "\"";
    return fail(ErrorCode::not_found, "no stored key is " + what + "; normctl ls lists all " +
                                          std::to_string(all->size()));
  }
  if (found.size() > 1) return ambiguous(name, found);
  return std::move(found.front());
}

Result<std::vector<v1::Trial>> Inspection::trials(const std::string& key_text) {
  const Result<Key> key = parse_key(key_text);
  if (!key) return fail(key.error());
  if (daemon_) {
    v1::ExplainRequest request;
    const Problem problem = problem_at(*key, key->bucket.rows_min);
    *request.mutable_problem() = to_message(problem);
    request.set_bucket_mode(static_cast<v1::BucketMode>(key->mode));
    request.set_align_bytes(problem.align_bytes);
    const Result<v1::ExplainResponse> response = daemon_->explain(request);
    if (!response) return fail(response.error());
    return std::vector<v1::Trial>(response->trials().begin(), response->trials().end());
  }
  const Result<std::vector<Trial>> stored = store_->find_trials(*key);
  if (!stored) return fail(stored.error());
  std::vector<v1::Trial> trials;
  for (const Trial& trial : *stored) trials.push_back(to_message(trial));
  return trials;
}

}  // namespace normd
