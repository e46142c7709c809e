// The second half of Resolver: tunings that requests wait for, cause behind them, or ask for.
#include <chrono>
#include <utility>

#include "service/daemon/resolver.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

Error stopping() {
  return {ErrorCode::unavailable, "the daemon is stopping", {}};
}

}  // namespace

Result<TuningQueue::Ticket> Resolver::submit(const std::string& flight, const TuneRequest& request,
                                             const std::string& client, Waiter waiter) {
  const auto tuning = queue();
  if (!tuning) return fail(stopping());
  return tuning->submit(flight, request, client, std::move(waiter));
}

void Resolver::wait_for_tuning(const Key& key, const ResolveAsk& ask, bool again,
                               const std::shared_ptr<Cancellation>& cancellation,
                               const Done& done) {
  const TuneRequest request{.problem = ask.problem,
                            .mode = ask.mode,
                            .budget_ms = parts_.tuning_budget_ms,
                            .again = again};
  // Written below and read by a later task, both on the lookup thread.
  const auto joined = std::make_shared<Joined>(Joined::joined);
  auto place = admitted_waiting();
  if (!place) return done(fail(std::move(place.error())));
  Waiter waiter{
      .finished = [this, key, joined, done, place = *place](const Result<Tuning>& tuning) {
        const bool posted = lookup_.post(
            [this, key, joined, done, tuning] { answer_after_tuning(key, tuning, *joined, done); });
        if (!posted) done(fail(stopping()));
      }};
  auto ticket = submit(to_text(key), request, ask.client, std::move(waiter));
  if (!ticket) return done(fail(std::move(ticket.error())));
  *joined = ticket->joined;
  cancellation->on_cancel([this, id = ticket->waiter] {
    if (const auto open = queue()) open->remove(id);
  });
}

void Resolver::answer_after_tuning(const Key& key, const Result<Tuning>& tuning, Joined joined,
                                   const Done& done) {
  if (!tuning) return done(fail(tuning.error()));
  const Origin origin = joined == Joined::joined ? Origin::joined
                        : tuning->from_store     ? Origin::store
                                                 : Origin::tuned;
  const Known known = cache_.find(key, Clock::now());
  if (const auto* kernel = std::get_if<ServedKernelPointer>(&known)) {
    return done(Resolved{*kernel, origin, (*kernel)->key});
  }
  KernelLoader::Loaded looked = loader_.load_winner(key);
  if (!looked.kernel) {
    parts_.log->warning("tuned_but_not_served", {{"key", to_text(key)}, {"why", looked.why}});
    if (looked.failed_here) behind_.refused_here(to_text(key), Clock::now());
    return done(Resolved{parts_.serving->fallback(), Origin::fallback, to_text(key)});
  }
  std::string text = looked.kernel->key;
  done(Resolved{std::move(looked.kernel), origin, std::move(text)});
}

void Resolver::tune_behind(const Key& key, const ResolveAsk& ask, bool again) {
  const std::string text = to_text(key);
  if (!behind_.begin(text, Clock::now())) return;
  Waiter waiter{.finished = [this, key, text](const Result<Tuning>& tuning) {
    behind_.failed(text, Clock::now());
    if (!tuning) return;  // the tuning itself is logged, whoever asked for it
    // Loaded now, so that the next request is a hit. A winner that cannot be loaded keeps its
    // place among the failures: tuning it again at once would not help.
    static_cast<void>(lookup_.post([this, key, text] {
      const KernelLoader::Loaded looked = loader_.load_winner(key);
      if (looked.kernel) behind_.forget(text);
      if (!looked.kernel && looked.failed_here) behind_.refused_here(text, Clock::now());
    }));
  }};
  const TuneRequest request{.problem = ask.problem,
                            .mode = ask.mode,
                            .budget_ms = parts_.tuning_budget_ms,
                            .again = again};
  auto ticket = submit(text, request, ask.client, std::move(waiter));
  if (ticket) return;
  parts_.log->warning("tuning_not_queued", {{"key", text}, {"reason", ticket.error()}});
  behind_.forget(text);
}

Result<Joined> Resolver::tune(const TuneRequest& request, const std::string& client, Waiter waiter,
                              Cancellation& cancellation) {
  const Key key = key_of(request.problem, request.mode);
  // A tuning of one template or a repeated one is another flight than the plain one.
  std::string flight = to_text(key);
  if (!request.template_name.empty()) flight += " template=" + request.template_name;
  if (request.again) flight += " again";
  auto place = admitted_waiting();
  if (!place) return fail(std::move(place.error()));
  auto finished = std::move(waiter.finished);
  waiter.finished = [this, key, finished, place = *place](const Result<Tuning>& tuning) {
    const bool posted = lookup_.post([this, key, finished, tuning] {
      if (tuning && tuning->winner) loader_.load_winner(key);
      finished(tuning);
    });
    if (!posted) finished(fail(stopping()));
  };
  auto ticket = submit(flight, request, client, std::move(waiter));
  if (!ticket) return fail(std::move(ticket.error()));
  cancellation.on_cancel([this, id = ticket->waiter] {
    if (const auto open = queue()) open->remove(id);
  });
  return ticket->joined;
}

}  // namespace normd
