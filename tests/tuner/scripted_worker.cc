// A worker program whose answers are made up, at once and without a device: the frames of the real
// one, and misbehaviour by a script (script.h). It says what it took for which number, so that a
// binary that goes astray is seen. With the first argument `real` it is the real worker.
#include <unistd.h>

#include <csignal>
#include <map>
#include <thread>

#include "kernels/digest.h"
#include "tests/tuner/script.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/messages.h"
#include "tuner/worker/worker_main.h"

namespace normd {
namespace {

constexpr std::string_view compiler_version = "scripted 1";
constexpr double copy_ns = 1000;
constexpr double candidate_ns = 2000;

class ScriptedWorker {
 public:
  explicit ScriptedWorker(std::string directory) : script_(std::move(directory)) {}

  Frame answer(const Frame& request) {
    if (request.verb == "compiler") {
      misbehave("compiler", "");
      return Frame{.verb = "compiler", .fields = {{"version", std::string(compiler_version)}}};
    }
    if (request.verb == "compile") return compile(request);
    if (request.verb == "trial") return trial(request);
    if (request.verb == "sample") return sample(request);
    if (request.verb == "prepare") {
      misbehave("prepare", "");
      loaded_.clear();
      return Frame{.verb = "prepared"};
    }
    return Frame{.verb = request.verb == "open" ? "opened" : "done"};
  }
  // Once its answer is on the way: it is killed while it has nothing to do.
  void die_if_told() const {
    if (dies_idle_) std::raise(SIGKILL);
  }

 private:
  // The figure of a rule that is about neither death nor time, if one is there.
  std::optional<std::string> misbehave(std::string_view verb, const std::string& subject) {
    const auto action = script_.take(verb, subject);
    if (!action) return std::nullopt;
    if (*action == "die") std::raise(SIGKILL);
    if (*action == "die idle") dies_idle_ = true;
    if (*action == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    if (action->starts_with("slow ")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(action->substr(5))));
    }
    return action;
  }

  Frame compile(const Frame& request) {
    const auto source = source_of(request);
    const auto action = misbehave("compile", source->digest);
    if (action == "reject") {
      return frame_of(Error{ErrorCode::invalid_argument, "kernel.cc:1: error: no such type", {}});
    }
    if (action == "no tool") {
      return frame_of(Error{ErrorCode::failed_precondition, "no compiler", {}});
    }
    Binary binary{.format = BinaryFormat::host_object,
                  .bytes = action == "same" ? "one for all" : "binary of " + source->digest,
                  .source_digest = source->digest,
                  .entry = source->entry,
                  .target = source->target,
                  .compiler = std::string(compiler_version),
                  .spill_bytes = action == "spill" ? 400 : 0};
    binary.digest = sha256_hex(binary.bytes);
    Frame frame{.verb = "binary"};
    put_binary(frame, binary);
    return frame;
  }

  Frame trial(const Frame& request) {
    const std::string candidate = *request.field("candidate");
    const bool again = *request.field("passed") == "1";
    const auto action = misbehave(again ? "reload" : "trial", candidate);
    loaded_[static_cast<int>(*request.integer("number"))] = candidate;
    TrialBench::Tried tried;
    tried.verdict.kind = VerdictKind::measured;
    if (action == "refuse") {
      tried.verdict = {.kind = VerdictKind::refused, .reason = Reason::wrong_result};
    }
    if (action == "over limit") {
      tried.verdict = {.kind = VerdictKind::refused, .reason = Reason::load_error};
    }
    if (action == "no memory") {
      tried.verdict = {.kind = VerdictKind::not_tried, .reason = Reason::out_of_memory};
    }
    return frame_of(tried);
  }

  // The subject is `alone`, `explored` or `raced`, and the candidate, or `control`.
  Frame sample(const Frame& request) {
    const auto numbers = *parse_numbers(*request.field("numbers"));
    const bool explored = numbers.size() == 2 && numbers[0] == numbers[1];
    const std::string how = numbers.size() == 1 ? "alone " : explored ? "explored " : "raced ";
    TrialBench::Samples samples{.ns = {},
                                .condition = {.sm_clock_mhz = 1980, .memory_clock_mhz = 3201}};
    for (const std::int64_t number : numbers) {
      const std::string who = number < 0 ? "control" : loaded_.at(static_cast<int>(number));
      const auto action = misbehave("sample", how + who);
      if (action && action->starts_with("held ")) samples.condition.held_back = action->substr(5);
      samples.ns.push_back(number < 0         ? copy_ns
                           : action == "copy" ? copy_ns
                           : action == "fast" ? candidate_ns * 0.6
                                              : candidate_ns + static_cast<double>(number));
    }
    return frame_of(samples);
  }

  Script script_;
  std::map<int, std::string> loaded_;
  bool dies_idle_ = false;
};

int run(const std::string& directory) {
  ScriptedWorker worker(directory);
  while (true) {
    const auto request = read_frame(worker_descriptor);
    if (!request || !write_frame(worker_descriptor, worker.answer(*request))) return 0;
    worker.die_if_told();
  }
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  return directory == "real" ? normd::worker_main({}) : normd::run(directory);
}
