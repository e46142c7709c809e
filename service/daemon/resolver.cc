#include "service/daemon/resolver.h"

#include <chrono>
#include <utility>

#include "kernels/limits.h"

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// How long a miss is believed before the store is asked again. Another device or process may have
// tuned the key meanwhile; a request for an untuned shape should not cost a query each time.
constexpr std::chrono::seconds miss_believed{1};

// Room for every call that waits for a tuning to be answered at once, and for as many cold
// requests.
constexpr std::size_t lookups_max = 2 * limits::waiting_calls_max;

Error lookups_full() {
  return {ErrorCode::resource_exhausted,
          "requests for shapes that are not in memory are at their limit waiting_calls_max = " +
              std::to_string(limits::waiting_calls_max) + "; try again in a moment",
          "waiting_calls_max"};
}

Error not_tuned(const std::string& key) {
  return {
      ErrorCode::failed_precondition,
      "not tuned, and the policy is to fail; tune it, or ask with policy FALLBACK or WAIT: " + key,
      "policy"};
}

}  // namespace

Resolver::Resolver(Parts parts)
    : parts_(std::move(parts)),
      cache_(limits::kernels_in_memory_max),
      loader_({.store = parts_.store,
               .serving = parts_.serving,
               .cache = &cache_,
               .counters = parts_.counters,
               .log = parts_.log}),
      retunes_({.spec = parts_.serving->spec(),
                .driver = parts_.serving->identity().driver,
                .compiler = parts_.compiler,
                .tuning_budget_ms = parts_.tuning_budget_ms,
                .submit =
                    [this](const std::string& flight, const TuneRequest& request, Waiter waiter) {
                      return submit(flight, request, std::string(TuningQueue::background),
                                    std::move(waiter));
                    },
                .tuned =
                    [this](const Key& key) {
                      static_cast<void>(lookup_.post([this, key] { loader_.load_winner(key); }));
                    },
                .counters = parts_.counters,
                .log = parts_.log}),
      queue_(std::make_shared<TuningQueue>(
          [this](const TuneRequest& request,
                 const std::function<void(const TuneProgress&)>& progress,
                 std::stop_token stop) { return run_tuning(request, progress, std::move(stop)); },
          limits::tuning_queue_max)),
      lookup_(lookups_max) {}

Resolver::~Resolver() {
  stop_tuning();
}

void Resolver::stop_tuning() {
  // The queue's own end waits for its tuning; no lock is held meanwhile.
  const auto going = std::exchange(*queue_.lock(), nullptr);
}

Key Resolver::key_of(const Problem& problem, BucketMode mode) const {
  return make_key(problem, parts_.serving->spec(), parts_.fingerprint, mode);
}

Result<std::shared_ptr<Admission::Hold>> Resolver::admitted_waiting() {
  auto hold = parts_.admission->admit_waiting_call();
  if (!hold) return fail(std::move(hold.error()));
  return std::make_shared<Admission::Hold>(std::move(*hold));
}

Resolved Resolver::answer_meanwhile(const KnownMiss& miss) const {
  if (miss.by_default) return {miss.by_default, Origin::standard, miss.key};
  return {parts_.serving->fallback(), Origin::fallback, miss.key};
}

Result<std::optional<Tuning>> Resolver::run_tuning(
    const TuneRequest& request, const std::function<void(const TuneProgress&)>& progress,
    std::stop_token stop) {
  // The default among one template's candidates alone is not the key's.
  const bool wanted = request.template_name.empty();
  std::string loaded_digest;  // another one if the first falls in the race
  const auto watch = [&](const TuneProgress& now) {
    if (wanted && now.default_binary_digest != loaded_digest) {
      const Key key = key_of(request.problem, request.mode);
      const bool posted = lookup_.post([this, key, problem = request.problem, now] {
        if (in_memory(key)) return;  // a winner that is tuned again goes on serving
        if (now.default_binary_digest.empty()) return cache_.drop(key);
        loader_.load_default(key, problem, now);
      });
      // Else the next report tries again.
      if (posted) loaded_digest = now.default_binary_digest;
    }
    progress(now);
  };
  return parts_.tune(request, watch, std::move(stop));
}

void Resolver::resolve(ResolveAsk ask, std::shared_ptr<Cancellation> cancellation, Done done) {
  const Key key = key_of(ask.problem, ask.mode);
  const Known known = cache_.find(key, Clock::now());
  if (const auto* kernel = std::get_if<ServedKernelPointer>(&known)) {
    return done(Resolved{*kernel, Origin::memory, (*kernel)->key});
  }
  if (const auto* miss = std::get_if<KnownMiss>(&known)) {
    if (ask.policy == Policy::fallback) return done(answer_meanwhile(*miss));
    if (ask.policy == Policy::fail) return done(fail(not_tuned(miss->key)));
  }
  const bool posted = lookup_.post([this, key, ask = std::move(ask), cancellation, done] {
    resolve_from_store(key, ask, cancellation, done);
  });
  if (!posted) done(fail(lookups_full()));
}

// What was found with another driver, compiler or catalog serves all the same. It is looked at in a
// task of its own: nobody waits for that.
KernelLoader::Loaded Resolver::load_winner(const Key& key) {
  KernelLoader::Loaded looked = loader_.load_winner(key);
  if (looked.winner) {
    static_cast<void>(lookup_.post([this, winner = *looked.winner] { retunes_.look_at(winner); }));
  }
  return looked;
}

void Resolver::resolve_from_store(const Key& key, const ResolveAsk& ask,
                                  const std::shared_ptr<Cancellation>& cancellation,
                                  const Done& done) {
  // Another lookup may have loaded it since.
  const Known known = cache_.find(key, Clock::now());
  if (const auto* kernel = std::get_if<ServedKernelPointer>(&known)) {
    return done(Resolved{*kernel, Origin::memory, (*kernel)->key});
  }
  KernelLoader::Loaded looked = load_winner(key);
  if (looked.kernel) {
    std::string text = looked.kernel->key;
    return done(Resolved{std::move(looked.kernel), Origin::store, std::move(text)});
  }
  const KnownMiss miss =
      cache_.put_miss(key, {.key = to_text(key), .until = Clock::now() + miss_believed});
  parts_.log->debug("miss", {{"key", miss.key}, {"why", looked.why}});
  switch (ask.policy) {
    case Policy::fallback:
      tune_behind(key, ask, looked.unusable_winner);
      return done(answer_meanwhile(miss));
    case Policy::wait:
      if (looked.failed_here && behind_.was_refused_here(miss.key, Clock::now())) {
        return done(answer_meanwhile(miss));
      }
      return wait_for_tuning(key, ask, looked.unusable_winner, cancellation, done);
    case Policy::fail:
      return done(fail(not_tuned(miss.key)));
  }
}

void Resolver::review() {
  static_cast<void>(lookup_.post([this] {
    cache_.expire_misses();
    for (const KernelCache::Loaded& loaded : cache_.loaded()) {
      const auto stored = parts_.store->peek_winner(loaded.key);
      if (!stored) continue;  // unreadable just now: what is loaded stays right
      const bool same = *stored && (*stored)->binary_digest == loaded.binary_digest &&
                        to_text((*stored)->candidate) == loaded.candidate;
      // What stands in for a winner that failed here goes on doing so.
      const bool in_its_place = *stored && loader_.is_quarantined((*stored)->binary_digest);
      if (!same && !in_its_place) cache_.drop(loaded.key);
    }
  }));
}

Resolver::Warmed Resolver::warm(const Problem& problem, BucketMode mode) {
  std::promise<Warmed> warmed;
  const bool posted = lookup_.post([&] {
    const KernelLoader::Loaded looked = load_winner(key_of(problem, mode));
    warmed.set_value({looked.kernel != nullptr, looked.unusable_winner});
  });
  return posted ? warmed.get_future().get() : Warmed{};
}

bool Resolver::run_if_idle(TuningQueue::Work work) {
  const auto tuning = queue();
  return tuning && tuning->run_if_idle(std::move(work));
}

// Not on the caller's thread, which may be the queue's.
void Resolver::drifted(const Winner& winner, const std::string& how) {
  static_cast<void>(lookup_.post([this, winner, how] { retunes_.drifted(winner, how); }));
}

bool Resolver::in_memory(const Key& key) {
  return std::holds_alternative<ServedKernelPointer>(cache_.find(key, Clock::now()));
}

TuningQueue::Depth Resolver::depth() {
  const auto tuning = queue();
  return tuning ? tuning->depth() : TuningQueue::Depth{};
}

}  // namespace normd
