#include "tuner/trial_worker.h"

#include <csignal>

#include "tuner/worker/messages.h"

namespace normd {
namespace {

// A few candidates may fault; more deaths than this say that the device or the host is ill.
constexpr int deaths_max = 8;

}  // namespace

bool process_lost(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::deadline_exceeded;
}

TrialWorker::TrialWorker(WorkerCommand command, std::string device, std::string turn_directory,
                         std::chrono::milliseconds limit)
    : command_(std::move(command)),
      device_(std::move(device)),
      turn_directory_(std::move(turn_directory)),
      limit_(limit) {}

Result<Frame> TrialWorker::ask(const Frame& request, std::chrono::milliseconds limit) {
  if (!process_) return fail(ErrorCode::failed_precondition, "there is no trial worker any more");
  return process_->ask(request, limit);
}

Result<void> TrialWorker::start() {
  auto process = WorkerProcess::start(command_.words_of(!started_before_));
  started_before_ = true;
  if (!process) return fail(std::move(process.error()));
  process_.emplace(std::move(*process));
  pid_ = process_->pid();
  const Frame open{.verb = "open",
                   .fields = {{"device", device_}, {"turn_directory", turn_directory_}},
                   .body = {}};
  auto opened = expect(ask(open, limit_), "opened");
  if (!opened) {
    process_.reset();
    return fail(opened.error().code,
                "the trial worker cannot use device " + device_ + ": " + opened.error().message);
  }
  return {};
}

Result<void> TrialWorker::prepare(const Problem& problem, const std::vector<MeasuredEdge>& edges,
                                  Grade grade) {
  loaded_.clear();
  deaths_ = 0;
  stopped_ = false;
  const bool is_fresh = !process_ || !process_->alive();
  if (is_fresh) {
    if (auto started = start(); !started) return started;
  }
  prepared_ = Frame{.verb = "prepare",
                    .fields = {{"problem", to_text(problem)},
                               {"edges", to_text(edges)},
                               {"grade", std::string(grade_name(grade))}},
                    .body = {}};
  auto answer = expect(ask(*prepared_, limit_), "prepared");
  if (!answer && !is_fresh && !stopped_ && answer.error().code == ErrorCode::unavailable) {
    // It may have been killed while it had nothing to do; that is no fault of this problem.
    ++restarts_;
    if (auto started = start(); !started) return started;
    answer = expect(ask(*prepared_, limit_), "prepared");
  }
  if (!answer) return fail(std::move(answer.error()));
  return {};
}

Frame TrialWorker::trial_frame(int number, const Loaded& loaded, bool passed) const {
  Frame frame{.verb = "trial",
              .fields = {{"number", std::to_string(number)},
                         {"candidate", to_text(loaded.candidate)},
                         {"launch", to_text(loaded.launch)},
                         {"passed", passed ? "1" : "0"}},
              .body = {}};
  put_binary(frame, loaded.binary);
  return frame;
}

Result<void> TrialWorker::recover() {
  if (++deaths_ > deaths_max) {
    process_.reset();
    pid_ = -1;
    return fail(ErrorCode::failed_precondition, "the trial worker died " + std::to_string(deaths_) +
                                                    " times on one problem; giving it up");
  }
  return renew();
}

// A new process with the same workloads, and with every candidate that had passed.
Result<void> TrialWorker::renew() {
  if (stopped_) return fail(ErrorCode::failed_precondition, "the trial worker was stopped");
  ++restarts_;
  process_.reset();
  pid_ = -1;
  if (auto started = start(); !started) return started;
  auto prepared = expect(ask(*prepared_, limit_), "prepared");
  if (!prepared) return fail(std::move(prepared.error()));
  for (const auto& [number, loaded] : loaded_) {
    auto tried = expect(ask(trial_frame(number, loaded, true), limit_), "verdict");
    if (!tried) return fail(std::move(tried.error()));
  }
  return {};
}

Result<TrialBench::Tried> TrialWorker::try_candidate(
    int number, Loaded loaded, std::optional<std::chrono::milliseconds> limit) {
  auto first = try_once(number, loaded, limit);
  if (!first || !is_by_bytes(first->verdict)) return first;
  if (auto renewed = renew(); !renewed) return fail(std::move(renewed.error()));
  auto second = try_once(number, loaded, limit);
  if (!second) return second;
  if (second->verdict.kind == VerdictKind::measured) drop(number);
  if (second->verdict.reason == first->verdict.reason) first->sightings = 2;
  return first;
}

Result<TrialBench::Tried> TrialWorker::try_once(int number, const Loaded& loaded,
                                                std::optional<std::chrono::milliseconds> limit) {
  auto answer = expect(
      ask(trial_frame(number, loaded, loaded.passed_before), limit.value_or(limit_)), "verdict");
  TrialBench::Tried tried;
  if (answer) {
    auto read = tried_of(*answer);
    if (!read) return read;
    tried = std::move(*read);
  } else if (process_lost(answer.error())) {
    const bool hung = answer.error().code == ErrorCode::deadline_exceeded;
    tried.verdict = {.kind = VerdictKind::refused,
                     .reason = hung ? Reason::timeout : Reason::fault,
                     .detail = answer.error().message};
  } else {
    return fail(std::move(answer.error()));
  }
  // A fault that was reported has ruined the process's context all the same.
  const bool ruined =
      tried.verdict.reason == Reason::fault || tried.verdict.reason == Reason::timeout;
  if (tried.verdict.kind == VerdictKind::measured) loaded_[number] = loaded;
  if (ruined) {
    if (auto recovered = recover(); !recovered) return fail(std::move(recovered.error()));
  }
  return tried;
}

Result<TrialBench::Samples> TrialWorker::sample(const std::vector<int>& numbers, std::size_t edge,
                                                std::optional<std::chrono::milliseconds> limit) {
  const std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
  const Frame frame{.verb = "sample",
                    .fields = {{"numbers", join(wide)}, {"edge", std::to_string(edge)}},
                    .body = {}};
  auto answer = expect(ask(frame, limit.value_or(limit_)), "samples");
  if (!answer) {
    const Error error = answer.error();
    if (process_lost(error)) {
      if (auto recovered = recover(); !recovered) return fail(std::move(recovered.error()));
    }
    return fail(error);
  }
  auto samples = samples_of(*answer);
  if (!samples) return samples;
  if (samples->ns.size() != numbers.size())
    return fail(ErrorCode::internal, "the worker gave " + std::to_string(samples->ns.size()) +
                                         " samples for " + std::to_string(numbers.size()));
  return samples;
}

void TrialWorker::stop() {
  stopped_ = true;
  if (const int pid = pid_; pid > 0) ::kill(pid, SIGKILL);
}

void TrialWorker::drop(int number) {
  loaded_.erase(number);
  const Frame frame{.verb = "drop", .fields = {{"number", std::to_string(number)}}, .body = {}};
  if (process_ && process_->alive()) (void)ask(frame, limit_);
}

void TrialWorker::rest() {
  loaded_.clear();
  const Frame frame{.verb = "rest", .fields = {}, .body = {}};
  if (process_ && process_->alive()) (void)ask(frame, limit_);
}

}  // namespace normd
