#include <iostream>
#include <nlohmann/json.hpp>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/inspection.h"
#include "service/cli/trials_view.h"

namespace normd {
namespace {

bool confirmed(Session& session) {
  session.err << "Forget this winner and its trials? [y/N] " << std::flush;
  std::string answer;
  std::getline(session.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// By the running daemon, which then no longer has it in memory; else in the file itself.
Result<std::int64_t> forget_key(Session& session, const std::string& key_text) {
  StoreChoice choice = choose_store(session);
  if (choice.daemon) {
    const Result<v1::ForgetResponse> response = choice.daemon->forget(key_text);
    if (!response) return fail(response.error());
    return response->rows_removed();
  }
  const Result<Key> key = parse_key(key_text);
  if (!key) return fail(key.error());
  Result<std::unique_ptr<Store>> store = Store::open(choice.directory, Store::Mode::read_write);
  if (!store) return fail(store.error());
  return (*store)->forget(*key);
}

}  // namespace

ExitStatus forget_command(Session& session, const ForgetFlags& flags) {
  std::string key;
  {
    Result<Inspection> inspection = Inspection::open(session);
    if (!inspection) return report(session, inspection.error());
    const Result<ListedWinner> listed = inspection->find(flags.key);
    if (!listed) return report(session, listed.error());
    key = listed->winner.key();
    if (!session.json) session.out << winner_summary(listed->winner);
  }
  if (!flags.yes) {
    if (!session.surroundings.in_is_terminal) {
      return report(session, {.code = ErrorCode::invalid_argument,
                              .message = "nothing was forgotten: without a terminal to ask on, "
                                         "--yes is required",
                              .field = "--yes"});
    }
    if (!confirmed(session)) {
      session.err << "nothing was forgotten\n";
      return ExitStatus::failed;
    }
  }
  const Result<std::int64_t> removed = forget_key(session, key);
  if (!removed) return report(session, removed.error());
  if (session.json) {
    print_json(session, {{"key", key}, {"rows_removed", *removed}});
  } else {
    session.out << "forgotten: " << *removed << " rows\n";
  }
  return ExitStatus::ok;
}

}  // namespace normd
