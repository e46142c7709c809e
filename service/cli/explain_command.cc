#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/explanation.h"
#include "service/cli/message_json.h"
#include "service/cli/quantity.h"
#include "service/cli/trials_view.h"

namespace normd {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

void print_miss(Session& session, const std::string& nearest_key,
                const std::vector<std::string>& fields) {
  if (nearest_key.empty()) {
    session.out << "nearest    no key is stored that could be compared\n";
    return;
  }
  session.out << "nearest    " << escaped(nearest_key) << "\n"
              << "differs in " << escaped(joined(fields)) << "\n";
}

// The daemon knows more than the file: its device, and what is in its memory.
ExitStatus explain_live(Session& session, Client& daemon, const ExplainFlags& flags,
                        const AskedProblem& asked) {
  v1::ExplainRequest request;
  *request.mutable_problem() = to_message(asked.problem);
  request.set_bucket_mode(to_message(asked.mode));
  request.set_device(flags.device);
  request.set_align_bytes(asked.problem.align_bytes);
  const Result<v1::ExplainResponse> response = daemon.explain(request);
  if (!response) return report(session, response.error());
  if (session.json) {
    nlohmann::json object = to_json(*response);
    object["source"] = "daemon";
    print_json(session, std::move(object));
    return ExitStatus::ok;
  }
  const auto* origin = v1::Origin_descriptor()->FindValueByNumber(response->origin());
  session.out << "answer     from " << (origin == nullptr ? "?" : enum_word(*origin)) << "\n"
              << "why        " << escaped(response->why()) << "\n";
  if (response->has_winner()) {
    session.out << winner_summary(response->winner());
  } else {
    session.out << "key        " << escaped(response->key()) << "\n";
    print_miss(session, response->nearest_key(),
               {response->differing_fields().begin(), response->differing_fields().end()});
  }
  session.out << "trials     " << response->trials_size() << " kept; normctl show prints them\n";
  return ExitStatus::ok;
}

void print_hit(Session& session, const ListedWinner& hit) {
  const std::string stale = stale_because(hit.winner);
  session.out << (stale.empty() ? "hit        " : "stale      ") << "number " << hit.number
              << " of normctl ls" << (stale.empty() ? "" : ": " + escaped(stale)) << "\n"
              << winner_summary(hit.winner);
}

ExitStatus explain_stored(Session& session, const AskedProblem& asked) {
  Result<Inspection> inspection = Inspection::open(session);
  if (!inspection) return report(session, inspection.error());
  const Result<std::vector<ListedWinner>> winners = inspection->winners();
  if (!winners) return report(session, winners.error());
  const Explanation explanation = explain(asked, *winners);
  if (session.json) {
    nlohmann::json hits = nlohmann::json::array();
    for (const ListedWinner& hit : explanation.hits) {
      nlohmann::json object = to_json(hit.winner);
      object["number"] = hit.number;
      object["stale_because"] = stale_because(hit.winner);
      hits.push_back(std::move(object));
    }
    print_json(session, {{"source", "store"},
                         {"hits", std::move(hits)},
                         {"nearest_key", explanation.nearest_key},
                         {"differing_fields", explanation.differing_fields}});
    return ExitStatus::ok;
  }
  for (const ListedWinner& hit : explanation.hits) print_hit(session, hit);
  if (explanation.hits.empty()) {
    session.out << "miss       " << escaped(to_text(asked.problem))
                << " is not tuned on any device\n";
    print_miss(session, explanation.nearest_key, explanation.differing_fields);
  }
  return ExitStatus::ok;
}

ExitStatus explain_key(Session& session, const std::string& name) {
  Result<Inspection> inspection = Inspection::open(session);
  if (!inspection) return report(session, inspection.error());
  const Result<ListedWinner> listed = inspection->find(name);
  if (!listed) return report(session, listed.error());
  if (session.json) {
    nlohmann::json object = to_json(listed->winner);
    object["number"] = listed->number;
    object["stale_because"] = stale_because(listed->winner);
    print_json(session, {{"source", "store"}, {"hits", {std::move(object)}}});
    return ExitStatus::ok;
  }
  print_hit(session, *listed);
  return ExitStatus::ok;
}

}  // namespace

ExitStatus explain_command(Session& session, const ExplainFlags& flags) {
  const Result<Shape> shape = parse_shape(flags.problem.shape);
  // A shape needs the dtype as well; anything else names a stored key.
  if (!shape && flags.problem.dtype.empty()) return explain_key(session, flags.problem.shape);
  if (flags.problem.dtype.empty()) {
    return report(session, {.code = ErrorCode::invalid_argument,
                            .message = "--dtype is required with a shape: fp32, fp16 or bf16",
                            .field = "--dtype"});
  }
  const Result<AskedProblem> asked = parse_problem_flags(flags.problem);
  if (!asked) return report(session, asked.error());
  if (session.store.empty()) {
    Result<Client> daemon = connect_daemon(session);
    if (daemon) return explain_live(session, *daemon, flags, *asked);
    note(session, daemon.error().message + "; looking into the store instead");
  }
  return explain_stored(session, *asked);
}

}  // namespace normd
