#include "tuner/worker/worker_main.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>

#include "kernels/candidate.h"
#include "kernels/problem.h"
#include "tuner/compiler/compiler.h"
#include "tuner/worker/messages.h"
#include "tuner/worker/trial_bench.h"

namespace normd {
namespace {

// Ends the process when the parent's end closes, whatever the main thread is doing: it may be
// waiting for a kernel that never ends.
void end_with_parent(std::stop_token stop) {
  while (!stop.stop_requested()) {
    pollfd entry{.fd = worker_descriptor, .events = POLLRDHUP, .revents = 0};
    const int ready = ::poll(&entry, 1, 200);
    if (ready > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) ::_exit(0);
  }
}

// Answers one frame after the other; each verb is one function.
class Worker {
 public:
  Worker(const StopPoint& stop_point, const CompilerPlaces& places)
      : stop_point_(stop_point), places_(places) {}

  Result<Frame> answer(const Frame& request) {
    if (request.verb == "compiler") return compiler(request);
    if (request.verb == "compile") return compile_source(request);
    if (request.verb == "open") return open(request);
    if (request.verb == "prepare") return prepare(request);
    if (request.verb == "trial") return trial(request);
    if (request.verb == "sample") return sample(request);
    if (request.verb == "drop") return drop(request);
    if (request.verb == "rest") return rest();
    return fail(ErrorCode::unimplemented, "the worker knows no verb '" + request.verb + "'");
  }

 private:
  // target → version
  Result<Frame> compiler(const Frame& request) {
    const auto target = request.field("target");
    if (!target) return fail(target.error());
    const auto version = compiler_version(*target, places_);
    if (!version) return fail(version.error());
    return Frame{.verb = "compiler", .fields = {{"version", *version}}, .body = {}};
  }

  // a Source → a Binary
  Result<Frame> compile_source(const Frame& request) {
    const auto source = source_of(request);
    if (!source) return fail(source.error());
    // Whatever else this machine does goes before a compiler that runs ahead; it cannot fail.
    (void)::setpriority(PRIO_PROCESS, 0, 19);
    stop_point_.reach("worker.compiling");
    const auto binary = compile(*source, places_);
    stop_point_.reach("worker.compiled");
    if (!binary) return fail(binary.error());
    Frame frame{.verb = "binary", .fields = {}, .body = {}};
    put_binary(frame, *binary);
    return frame;
  }

  // device, turn_directory → device_name
  Result<Frame> open(const Frame& request) {
    const auto device = request.field("device");
    const auto directory = request.field("turn_directory");
    if (!device) return fail(device.error());
    if (!directory) return fail(directory.error());
    auto bench = TrialBench::open(*device, *directory);
    if (!bench) return fail(std::move(bench.error()));
    bench_ = std::move(*bench);
    return Frame{
        .verb = "opened", .fields = {{"name", bench_->device().identity().name}}, .body = {}};
  }

  Result<void> opened() const {
    if (bench_ != nullptr) return {};
    return fail(ErrorCode::failed_precondition, "the worker has no device open");
  }

  // problem, edges, grade → nothing
  Result<Frame> prepare(const Frame& request) {
    if (auto open = opened(); !open) return fail(std::move(open.error()));
    const auto text = request.field("problem");
    if (!text) return fail(text.error());
    const auto problem = parse_problem(*text);
    if (!problem) return fail(problem.error());
    const auto edges = parse_edges(request.field("edges").value_or(""));
    if (!edges) return fail(edges.error());
    if (edges->empty()) return fail(ErrorCode::invalid_argument, "no edges to prepare", "edges");
    const bool taught = request.field("grade").value_or("") == grade_name(Grade::taught);
    stop_point_.reach("worker.preparing");
    auto done = bench_->prepare(*problem, *edges, taught ? Grade::taught : Grade::exact);
    if (!done) return fail(std::move(done.error()));
    return Frame{.verb = "prepared", .fields = {}, .body = {}};
  }

  // number, candidate, launch, passed, a Binary → a Verdict
  Result<Frame> trial(const Frame& request) {
    if (auto open = opened(); !open) return fail(std::move(open.error()));
    const auto number = request.integer("number");
    if (!number) return fail(number.error());
    const auto candidate = parse_candidate(request.field("candidate").value_or(""));
    if (!candidate) return fail(candidate.error());
    const auto launch = parse_launch(request.field("launch").value_or(""));
    if (!launch) return fail(launch.error());
    const auto binary = binary_of(request);
    if (!binary) return fail(binary.error());
    stop_point_.reach("worker.gating");
    const bool passed = request.field("passed").value_or("0") == "1";
    const auto tried =
        bench_->try_candidate(static_cast<int>(*number), *candidate, *binary, *launch, passed);
    stop_point_.reach("worker.gated");
    return frame_of(tried);
  }

  // numbers, edge → Samples
  Result<Frame> sample(const Frame& request) {
    if (auto open = opened(); !open) return fail(std::move(open.error()));
    const auto numbers = parse_numbers(request.field("numbers").value_or(""));
    if (!numbers) return fail(numbers.error());
    const auto edge = request.integer("edge");
    if (!edge) return fail(edge.error());
    stop_point_.reach("worker.sampling");
    const auto samples = bench_->sample(std::vector<int>(numbers->begin(), numbers->end()),
                                        static_cast<std::size_t>(*edge));
    if (!samples) return fail(samples.error());
    return frame_of(*samples);
  }

  // number → nothing
  Result<Frame> drop(const Frame& request) {
    if (auto open = opened(); !open) return fail(std::move(open.error()));
    const auto number = request.integer("number");
    if (!number) return fail(number.error());
    bench_->drop(static_cast<int>(*number));
    return Frame{.verb = "dropped", .fields = {}, .body = {}};
  }

  Result<Frame> rest() {
    if (bench_ != nullptr) bench_->rest();
    return Frame{.verb = "rested", .fields = {}, .body = {}};
  }

  const StopPoint& stop_point_;
  const CompilerPlaces& places_;
  std::unique_ptr<TrialBench> bench_;
};

}  // namespace

int worker_main(const StopPoint& stop_point, const CompilerPlaces& places) {
  const std::jthread watcher(end_with_parent);
  Worker worker(stop_point, places);
  while (true) {
    const auto request = read_frame(worker_descriptor);
    if (!request) return request.error().code == ErrorCode::unavailable ? 0 : 1;
    auto answer = worker.answer(*request);
    const Frame frame = answer ? std::move(*answer) : frame_of(answer.error());
    if (!write_frame(worker_descriptor, frame)) return 1;
    // A lost context serves nobody any more; the parent starts another worker.
    if (!answer && answer.error().code == ErrorCode::unavailable) return 1;
  }
}

}  // namespace normd
