#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/limits.h"
#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/message_json.h"
#include "service/cli/offline_tuning.h"
#include "service/cli/progress_line.h"
#include "service/cli/quantity.h"
#include "service/cli/trials_view.h"

namespace normd {
namespace {

Result<TuneRequest> read_request(const TuneFlags& flags) {
  const Result<AskedProblem> asked = parse_problem_flags(flags.problem);
  if (!asked) return fail(asked.error());
  if (asked->problem.rows == 0) {
    return fail(ErrorCode::invalid_argument,
                "\"" + escaped(flags.problem.shape) + "\": without rows there is nothing to tune",
                "shape");
  }
  TuneRequest request{.problem = asked->problem,
                      .mode = asked->mode,
                      .template_name = flags.template_name,
                      .again = flags.again};
  if (flags.budget.empty()) return request;
  const Result<std::int64_t> budget_ms = parse_duration_ms(flags.budget, "--budget");
  if (!budget_ms) return fail(budget_ms.error());
  if (*budget_ms < 1 || *budget_ms > limits::tuning_budget_ms_max) {
    return fail(ErrorCode::invalid_argument,
                "--budget " + flags.budget + ": expected 1ms to " +
                    std::to_string(limits::tuning_budget_ms_max / 1000) + "s",
                "--budget");
  }
  request.budget_ms = *budget_ms;
  return request;
}

Result<v1::TuneResponse> tune_live(Session& session, const TuneRequest& request,
                                   const std::string& device,
                                   const std::function<void(const v1::TuneProgress&)>& progress) {
  Result<Client> daemon = connect_daemon(session);
  if (!daemon) {
    Error error = daemon.error();
    error.message += "; --no-daemon tunes without one";
    return fail(std::move(error));
  }
  v1::TuneRequest message;
  *message.mutable_problem() = to_message(request.problem);
  message.set_bucket_mode(to_message(request.mode));
  message.set_device(device);
  message.set_budget_ms(request.budget_ms);
  message.set_again(request.again);
  message.set_template_name(request.template_name);
  message.set_align_bytes(request.problem.align_bytes);
  return daemon->tune(message, progress);
}

std::string outcome(const v1::TuneResponse& response) {
  switch (response.origin()) {
    case v1::ORIGIN_STORE:
      return "found in the store; nothing was tuned (--again tunes anew)";
    case v1::ORIGIN_MEMORY:
      return "tuned already; nothing was done (--again tunes anew)";
    case v1::ORIGIN_JOINED:
      return "joined a tuning that another call had begun";
    default:
      return "tuned, with " + std::to_string(response.compiles()) + " compilations";
  }
}

ProgressLine::Style progress_style(const Session& session) {
  if (session.json) return ProgressLine::Style::silent;
  return session.surroundings.err_is_terminal ? ProgressLine::Style::rewritten
                                              : ProgressLine::Style::plain;
}

void print_response(Session& session, const v1::TuneResponse& response, const Problem& problem) {
  session.out << "outcome    " << outcome(response) << "\n";
  const std::string rounds = rounds_text(response.rounds_kept(), response.rounds_discarded());
  if (!rounds.empty()) session.out << "race       " << rounds << "\n";
  if (response.has_winner()) {
    session.out << winner_summary(response.winner());
  } else {
    session.out << "winner     none: only teaching templates were tried, and those never win\n"
                << "problem    " << to_text(problem) << "\n";
  }
  session.out << "\n"
              << trials_table({response.trials().begin(), response.trials().end()},
                              {.key = response.winner().key(),
                               .winner = response.winner().candidate(),
                               .bars = session.surroundings.out_is_terminal,
                               .color = session.color()});
}

}  // namespace

ExitStatus tune_command(Session& session, const TuneFlags& flags) {
  const Result<TuneRequest> request = read_request(flags);
  if (!request) return report(session, request.error());
  ProgressLine line(session.err, progress_style(session));
  const auto progress = [&](const v1::TuneProgress& step) { line.show(step); };
  const Result<v1::TuneResponse> response =
      flags.no_daemon ? tune_offline(session, *request, flags.device, progress)
                      : tune_live(session, *request, flags.device, progress);
  line.finish();
  if (!response) return report(session, response.error());
  if (session.json) {
    nlohmann::json object = to_json(*response);
    object.erase("progress");
    object.erase("done");
    print_json(session, std::move(object));
    return ExitStatus::ok;
  }
  print_response(session, *response, request->problem);
  return ExitStatus::ok;
}

}  // namespace normd
