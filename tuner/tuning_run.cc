#include "tuner/tuning_run.h"

#include <algorithm>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "kernels/source.h"

namespace normd {
namespace {

// Of the budget: trying candidates one by one; the rest is for the race.
constexpr double exploring_share = 0.65;

}  // namespace

TuningRun::TuningRun(TuningRunParts parts)
    : parts_(std::move(parts)),
      edges_(measured_rows(parts_.key.problem, parts_.spec, parts_.key.bucket)) {
  NORMD_CHECK(!parts_.candidates.empty());
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
  auto prepared =
      parts_.worker->prepare(problem_at(parts_.key, edges_.back()), edges_, parts_.grade);
  parts_.stop_point.reach("tuning.prepared");
  if (!prepared) return prepared;
  // Nobody who stops a tuning waits for a kernel: what is committed is committed.
  const std::stop_callback end(parts_.stop, [&] { parts_.worker->stop(); });
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    auto copy = parts_.worker->sample({control_copy}, edge);
    if (!copy) return fail(std::move(copy.error()));
    copy_ns_.push_back(copy->front());
    cache_.push_back(parts_.worker->cache());
  }
  if (auto explored = explore(); !explored) return explored;
  parts_.pool->abandon();
  parts_.stop_point.reach("tuning.explored");
  if (parts_.grade == Grade::taught) return {};
  if (!default_) return fail(nothing_passed());
  return race();
}

void TuningRun::lay_out() {
  const Problem problem = problem_at(parts_.key, edges_.back());
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
  for (int number = 0; number < static_cast<int>(entries_.size()); ++number) {
    Entry& entry = entries_[static_cast<std::size_t>(number)];
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
      parts_.pool->submit(number, entry.source);
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
  while (next_ready < ready.size() || parts_.pool->outstanding() > 0) {
    if (auto go_on = stopped_or_expired(); !go_on) return go_on;
    find_default();
    const bool enough = default_ || parts_.grade == Grade::taught;
    if (enough && (out_of_time(exploring_share) || close_to_copy())) break;
    if (next_ready < ready.size()) {
      const int number = ready[next_ready++];
      Binary binary = std::move(*entries_[static_cast<std::size_t>(number)].binary);
      if (auto done = take_binary(number, std::move(binary)); !done) return done;
      continue;
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    auto compiled = parts_.pool->next(until);
    if (!compiled) continue;
    if (auto done = take_compiled(std::move(*compiled)); !done) return done;
  }
  find_default();
  return {};
}

Result<void> TuningRun::take_compiled(CompilePool::Compiled compiled) {
  ++compiles_;
  ++progress_.compiled;
  if (compiled.binary) {
    parts_.stop_point.reach("tuning.compiled");
    if (auto stored = parts_.store->put_binary(*compiled.binary); !stored) return stored;
    parts_.stop_point.reach("tuning.binary_stored");
    return take_binary(compiled.number, std::move(*compiled.binary));
  }
  const Error& error = compiled.binary.error();
  if (error.code == ErrorCode::failed_precondition) {
    // No refusal: another day the compiler may work.
    compiler_missing_ = error.message;
    Entry& entry = entries_[static_cast<std::size_t>(compiled.number)];
    entry.trial.verdict.detail = error.message;
    entry.done = true;
    return {};
  }
  // Anything but a refusal of the text: the compiler died, hung, or its worker did.
  const bool died = error.code != ErrorCode::invalid_argument;
  refuse(compiled.number, died ? Reason::compiler_fault : Reason::compile_error, error.message);
  return settle(compiled.number);
}

// The default is the first in rank that passes, whatever the order in which binaries came: known
// only once everything ranked before it has been refused.
void TuningRun::find_default() {
  for (std::size_t number = 0; number < entries_.size() && !default_; ++number) {
    const Entry& entry = entries_[number];
    const int real = entry.same_as.value_or(static_cast<int>(number));
    const Entry& tried = entries_[static_cast<std::size_t>(real)];
    if (!tried.done) return;
    if (tried.trial.verdict.kind != VerdictKind::measured) continue;
    default_ = real;
    progress_.default_candidate = to_text(tried.candidate);
    progress_.default_binary_digest = tried.trial.binary_digest;
    report(TuneStage::compiling);
  }
}

Result<void> TuningRun::take_binary(int number, Binary binary) {
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  entry.trial.binary_digest = binary.digest;
  entry.trial.compiler = binary.compiler;
  entry.trial.registers = binary.registers;
  entry.trial.spill_bytes = binary.spill_bytes;
  const auto [first, is_new] = by_binary_.emplace(binary.digest, number);
  if (!is_new && first->second != number) {
    entry.same_as = first->second;  // measured once
    return {};
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
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  parts_.stop_point.reach("tuning.gate_asked");
  const TrialWorker::Loaded loaded{entry.candidate, *entry.binary, entry.launch,
                                   entry.passed_before};
  auto tried = parts_.worker->try_candidate(number, loaded);
  parts_.stop_point.reach("tuning.gated");
  if (!tried) {
    if (auto go_on = stopped_or_expired(); !go_on) return go_on;
    return fail(std::move(tried.error()));
  }
  if (!entry.passed_before) ++gates_;
  entry.trial.verdict = tried->verdict;
  entry.trial.sightings = tried->sightings;
  if (tried->resources.registers > 0) entry.trial.registers = tried->resources.registers;
  entry.trial.blocks_per_sm = tried->resources.blocks_per_sm;
  if (tried->verdict.kind == VerdictKind::measured) {
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
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  std::vector<double> best;
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    auto samples = parts_.worker->sample({number, number}, edge);
    if (!samples) {
      if (auto go_on = stopped_or_expired(); !go_on) return go_on;
      const bool hung = samples.error().code == ErrorCode::deadline_exceeded;
      if (!hung && samples.error().code != ErrorCode::unavailable)
        return fail(std::move(samples.error()));
      --progress_.gated;
      refuse(number, hung ? Reason::timeout : Reason::fault, samples.error().message);
      return {};
    }
    const auto [low, high] = std::minmax(samples->front(), samples->back());
    entry.trial.verdict.measurements.push_back({.rows = edges_[edge],
                                                .cache = cache_[edge],
                                                .median_ns = (low + high) / 2,
                                                .low_ns = low,
                                                .high_ns = high,
                                                .samples = 2,
                                                .copy_ns = copy_ns_[edge]});
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

void TuningRun::refuse(int number, Reason reason, std::string detail) {
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  entry.trial.verdict = {
      .kind = VerdictKind::refused, .reason = reason, .detail = std::move(detail)};
  ++progress_.refused;
}

Result<void> TuningRun::settle(int number) {
  Entry& entry = entries_[static_cast<std::size_t>(number)];
  entry.done = true;
  entry.binary.reset();
  if (entry.trial.verdict.kind == VerdictKind::not_tried) return {};
  if (entry.trial.verdict.reason == entry.seen_before) {
    entry.trial.sightings += entry.sightings_before;
  }
  auto stored = parts_.store->put_trial(parts_.key, entry.trial);
  parts_.stop_point.reach("tuning.trial_stored");
  return stored;
}

}  // namespace normd
