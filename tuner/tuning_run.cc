#include "tuner/tuning_run.h"

#include <algorithm>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "kernels/source.h"

namespace normd {
namespace {

// Replays of a candidate's sequence in its first call for two samples, the warm-ups with them.
constexpr double first_replays = 5;

}  // namespace

TuningRun::TuningRun(TuningRunParts parts)
    : parts_(std::move(parts)),
      budget_(std::chrono::milliseconds(parts_.budget_ms), Clock::now()),
      batch_(parts_.pool->begin()),
      edges_(measured_edges(parts_.key.problem, parts_.spec, parts_.key.bucket)) {
  NORMD_CHECK(!parts_.candidates.empty());
  NORMD_CHECK(parts_.order.size() == parts_.candidates.size());
}

Result<void> TuningRun::run() {
  const std::string target = parts_.spec.architecture();
  auto compiler = parts_.pool->compiler(target);
  // Without a compiler, what the store holds can still be tried.
  if (compiler)
    compiler_ = *compiler;
  else
    compiler_missing_ = compiler.error().message;

  lay_out();
  parts_.stop_point.reach("tuning.enumerated");
  if (auto prepared = prepare(); !prepared) return prepared;
  // Nobody who stops a tuning waits for a kernel: what is committed is committed.
  const std::stop_callback end(parts_.stop, [&] { parts_.worker->stop(); });
  if (auto measured = measure_copies(); !measured) return measured;
  if (auto explored = explore(); !explored) return explored;
  batch_.abandon();
  parts_.stop_point.reach("tuning.explored");
  if (parts_.grade == Grade::taught) return {};
  if (!default_) return fail(nothing_passed());
  return race();
}

Result<void> TuningRun::prepare() {
  auto prepared =
      parts_.worker->prepare(problem_at(parts_.key, edges_.back().rows), edges_, parts_.grade);
  parts_.stop_point.reach("tuning.prepared");
  if (!prepared) return fail(worker_failed(std::move(prepared.error())));
  return {};
}

Result<void> TuningRun::measure_copies() {
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    auto copy = parts_.worker->sample({control_copy}, edge);
    // No candidate is to blame for a death here, and a second one is hardly chance.
    if (!copy && process_lost(copy.error())) copy = parts_.worker->sample({control_copy}, edge);
    if (!copy) return fail(worker_failed(std::move(copy.error())));
    copy_ns_.push_back(copy->ns.front());
  }
  patience_ = trial_patience(parts_.spec.kind, *std::max_element(copy_ns_.begin(), copy_ns_.end()));
  return {};
}

void TuningRun::lay_out() {
  const Problem problem = problem_at(parts_.key, edges_.back().rows);
  for (Candidate& candidate : parts_.candidates) {
    Entry entry;
    entry.candidate = candidate;
    entry.launch = launch_of(candidate, problem, parts_.spec);
    entry.source = render(candidate, problem, parts_.spec);
    entry.trial.candidate = candidate;
    entry.trial.compiler = compiler_;
    entry.trial.shared_bytes = entry.launch.shared_bytes;
    entries_.push_back(std::move(entry));
  }
  progress_.candidates = static_cast<int>(entries_.size());
  report(TuneStage::compiling);
}

// Known refusals are taken as they are; stored binaries need no compiler; the rest goes to the
// compilers all at once, in order. Returns who is ready.
std::vector<int> TuningRun::ask_for_binaries() {
  std::vector<int> ready;
  for (const int number : parts_.order) {
    Entry& entry = entry_of(number);
    const auto known = parts_.store->find_trial(parts_.key, entry.candidate, compiler_);
    if (known && *known && (*known)->verdict.kind == VerdictKind::refused) {
      if (is_settled(**known)) {
        entry.trial = **known;
        entry.done = true;
        ++progress_.refused;
        continue;
      }
      entry.seen_before = (*known)->verdict.reason;
      entry.sightings_before = (*known)->sightings;
    }
    auto binary = parts_.store->find_binary_of_source(entry.source.digest, compiler_);
    if (binary && *binary) {
      entry.passed_before = known && *known && (*known)->verdict.kind == VerdictKind::measured &&
                            (*known)->binary_digest == (*binary)->digest;
      entry.binary = std::move(**binary);
      ready.push_back(number);
    } else if (!compiler_.empty()) {
      batch_.submit(number, entry.source);
    } else {
      entry.trial.verdict.detail = compiler_missing_;
      entry.done = true;
    }
  }
  return ready;
}

Result<void> TuningRun::explore() {
  const std::vector<int> ready = ask_for_binaries();
  parts_.stop_point.reach("tuning.compile_asked");
  std::size_t next_ready = 0;
  while (next_ready < ready.size() || batch_.outstanding() > 0) {
    if (auto go_on = stopped_or_expired(); !go_on) return go_on;
    find_default(true);
    if (explored_enough()) break;
    if (next_ready < ready.size()) {
      const int number = ready[next_ready++];
      Binary binary = std::move(*entry_of(number).binary);
      if (auto done = take_binary(number, std::move(binary)); !done) return done;
      continue;
    }
    auto compiled = batch_.next(Clock::now() + std::chrono::milliseconds(100));
    if (!compiled) continue;
    if (auto done = take_compiled(std::move(*compiled)); !done) return done;
  }
  // A better ranked one may still be under way; it is not waited for.
  find_default(false);
  return {};
}

bool TuningRun::explored_enough() {
  const bool one_will_do = progress_.gated > 0 || parts_.grade == Grade::taught;
  const auto now = Clock::now();
  if (now >= (one_will_do ? budget_.exploring_end() : budget_.search_end())) return true;
  return (default_ || parts_.grade == Grade::taught) && close_to_copy();
}

Result<void> TuningRun::take_compiled(CompilePool::Compiled compiled) {
  const int number = compiled.number;
  const bool known = number >= 0 && number < static_cast<int>(entries_.size());
  if (!known ||
      (compiled.binary && compiled.binary->source_digest != entry_of(number).source.digest)) {
    return fail(ErrorCode::internal, "the compile pool answered number " + std::to_string(number) +
                                         " with a binary of another source");
  }
  ++compiles_;
  ++progress_.compiled;
  if (compiled.binary) {
    parts_.stop_point.reach("tuning.compiled");
    if (auto stored = parts_.store->put_binary(*compiled.binary); !stored) return stored;
    parts_.stop_point.reach("tuning.binary_stored");
    return take_binary(number, std::move(*compiled.binary));
  }
  const Error& error = compiled.binary.error();
  if (error.code == ErrorCode::failed_precondition) {
    // No refusal: another day the compiler may work.
    compiler_missing_ = error.message;
    Entry& entry = entry_of(number);
    entry.trial.verdict.detail = error.message;
    entry.done = true;
    return {};
  }
  // Anything but a refusal of the text: the compiler died, hung, or its worker did.
  const bool died = error.code != ErrorCode::invalid_argument;
  refuse(number, died ? Reason::compiler_fault : Reason::compile_error, error.message);
  return settle(number);
}

// The default is the first in rank that passes, whatever the order in which binaries came: known
// only once everything ranked before it has its verdict. When that can no longer be waited for
// (not `in_rank`), it is the first of those that have passed.
void TuningRun::find_default(bool in_rank) {
  for (int number = 0; number < static_cast<int>(entries_.size()) && !default_; ++number) {
    const int real = entry_of(number).same_as.value_or(number);
    const Entry& tried = entry_of(real);
    if (!tried.done && in_rank) return;
    if (!tried.done || !passed(real)) continue;
    default_ = real;
    progress_.default_candidate = to_text(tried.candidate);
    progress_.default_binary_digest = tried.trial.binary_digest;
    report(progress_.stage);
  }
}

Result<void> TuningRun::take_binary(int number, Binary binary) {
  Entry& entry = entry_of(number);
  entry.trial.binary_digest = binary.digest;
  entry.trial.compiler = binary.compiler;
  entry.trial.registers = binary.registers;
  entry.trial.spill_bytes = binary.spill_bytes;
  if (by_binary_.empty()) budget_.first_binary_at(Clock::now());
  const auto [first, is_new] = by_binary_.emplace(binary.digest, number);
  if (!is_new && first->second != number) {
    entry.same_as = first->second;  // measured once
    const Entry& tried = entry_of(first->second);
    if (!tried.done || tried.trial.verdict.kind == VerdictKind::not_tried) return {};
    return parts_.store->put_trial(parts_.key, trial_of(entry));
  }
  entry.binary = std::move(binary);
  if (parts_.grade == Grade::exact && entry.trial.spill_bytes > limits::spill_bytes_max) {
    refuse(number, Reason::spills,
           std::to_string(entry.trial.spill_bytes) + " bytes of registers spilled per thread");
    return settle(number);
  }
  return gate(number);
}

Result<void> TuningRun::gate(int number) {
  Entry& entry = entry_of(number);
  parts_.stop_point.reach("tuning.gate_asked");
  const TrialWorker::Loaded loaded{entry.candidate, *entry.binary, entry.launch,
                                   entry.passed_before};
  const auto limit = budget_.trial_limit(Clock::now(), progress_.gated > 0, patience_);
  auto tried = parts_.worker->try_candidate(number, loaded, limit.time);
  parts_.stop_point.reach("tuning.gated");
  if (!tried) return fail(worker_failed(std::move(tried.error())));
  if (!entry.passed_before) ++gates_;
  entry.trial.verdict = tried->verdict;
  entry.trial.sightings = tried->sightings;
  if (tried->resources.registers > 0) entry.trial.registers = tried->resources.registers;
  entry.trial.blocks_per_sm = tried->resources.blocks_per_sm;
  if (tried->verdict.reason == Reason::timeout && limit.by_budget) {
    give_up(number, limit);
  } else if (tried->verdict.kind == VerdictKind::measured) {
    ++progress_.gated;
    if (auto timed = time_alone(number); !timed) return timed;
  } else if (tried->verdict.kind == VerdictKind::refused) {
    ++progress_.refused;
  }
  if (auto settled = settle(number); !settled) return settled;
  report(TuneStage::compiling);
  return {};
}

// Two samples at each edge: enough to tell who belongs in the race.
Result<void> TuningRun::time_alone(int number) {
  Entry& entry = entry_of(number);
  std::vector<double> best;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    const auto begun = Clock::now();
    const auto limit = budget_.trial_limit(begun, progress_.gated > 1, patience_);
    auto samples = parts_.worker->sample({number, number}, edge, limit.time);
    if (!samples) {
      if (auto go_on = stopped_or_expired(); !go_on) return go_on;
      const Error& error = samples.error();
      if (!process_lost(error)) return fail(error);
      const bool hung = error.code == ErrorCode::deadline_exceeded;
      if (hung && limit.by_budget)
        give_up(number, limit);
      else
        refuse(number, hung ? Reason::timeout : Reason::fault, error.message);
      return {};
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
    entry.sampling_ms += took.count() / first_replays;
    const auto [low, high] = std::minmax(samples->ns.front(), samples->ns.back());
    entry.trial.verdict.measurements.push_back({.rows = edges_[edge].rows,
                                                .cache = edges_[edge].cache,
                                                .median_ns = (low + high) / 2,
                                                .low_ns = low,
                                                .high_ns = high,
                                                .samples = 2,
                                                .copy_ns = copy_ns_[edge],
                                                .sm_clock_mhz = samples->condition.sm_clock_mhz});
    best.push_back(low);
  }
  entry.explored_ns = std::move(best);
  if (progress_.best_ns == 0 || entry.explored_ns.back() < progress_.best_ns) {
    progress_.best_ns = entry.explored_ns.back();
    progress_.best = to_text(entry.candidate);
  }
  progress_.copy_ns = copy_ns_.back();
  return {};
}

}  // namespace normd
