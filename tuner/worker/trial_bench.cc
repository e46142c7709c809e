#include "tuner/worker/trial_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "tuner/compiler/prebuilt.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

constexpr std::uint64_t seed = 20260101;  // the same data in every tuning

Problem at_rows(Problem problem, std::int64_t rows) {
  problem.rows = rows;
  return problem;
}

Problem mixed_problem(const Problem& problem, const DeviceSpec& spec) {
  return at_rows(problem, kinds_rows(problem, spec));
}

Problem sized_problem(const Problem& problem, const std::vector<std::int64_t>& rows) {
  return at_rows(problem, *std::max_element(rows.begin(), rows.end()));
}

// The row counts, each once, in order.
std::vector<std::int64_t> rows_of(const std::vector<MeasuredEdge>& edges) {
  std::vector<std::int64_t> rows;
  for (const MeasuredEdge& edge : edges) {
    if (rows.empty() || rows.back() != edge.rows) rows.push_back(edge.rows);
  }
  return rows;
}

}  // namespace

Result<std::unique_ptr<TrialBench>> TrialBench::open(std::string_view device_name,
                                                     const std::string& turn_directory) {
  auto device = open_device(device_name);
  if (!device) return fail(std::move(device.error()));
  auto turn = DeviceTurn::open(turn_directory, (*device)->identity().uuid);
  if (!turn) return fail(std::move(turn.error()));
  const auto binary = prebuilt_binary(Prebuilt::check_rows, (*device)->spec());
  if (!binary) return fail(binary.error());
  auto checker = (*device)->load(*binary, check_rows_launch());
  if (!checker) return fail(std::move(checker.error()));
  auto comparer = ByteComparer::open(**device);
  if (!comparer) return fail(std::move(comparer.error()));
  std::unique_ptr<TrialBench> bench(
      new TrialBench(std::move(*device), std::move(*turn), std::move(*comparer)));
  bench->checker_ = std::move(*checker);
  return bench;
}

void TrialBench::clear() {
  stopwatches_.clear();
  candidates_.clear();
  far_.reset();
  kinds_.reset();
  sized_.reset();
  sweep_.reset();
  rows_.clear();
}

Result<void> TrialBench::prepare(const Problem& problem, const std::vector<MeasuredEdge>& edges,
                                 Grade grade) {
  NORMD_CHECK(!edges.empty());
  clear();
  problem_ = problem;
  grade_ = grade;
  rows_ = rows_of(edges);
  const Problem mixed = mixed_problem(problem, device_->spec());
  const Problem sized = sized_problem(problem, rows_);
  if (const double bytes = bench_bytes(problem, edges, device_->spec());
      bytes > static_cast<double>(limits::tuning_memory_bytes_max)) {
    return fail(ErrorCode::resource_exhausted, "measuring " + to_text(sized) + " would take " +
                                                   std::to_string(std::llround(bytes)) +
                                                   " bytes of device memory, allowed are " +
                                                   std::to_string(limits::tuning_memory_bytes_max));
  }
  auto kinds_workload = Workload::kinds(*device_, comparer_, mixed, grade, seed);
  if (!kinds_workload) return fail(std::move(kinds_workload.error()));
  auto sized_workload = Workload::sized(*device_, comparer_, sized, seed);
  if (!sized_workload) return fail(std::move(sized_workload.error()));
  kinds_ = std::move(*kinds_workload);
  sized_ = std::move(*sized_workload);
  if (auto done = prepare_far_rows(); !done) return done;
  sweep_.emplace(*device_, comparer_);
  for (const MeasuredEdge& edge : edges) {
    auto stopwatch =
        Stopwatch::make(*device_, *sweep_, at_rows(problem, edge.rows), edge.cache, *sized_);
    if (!stopwatch) return fail(std::move(stopwatch.error()));
    stopwatches_.push_back(std::move(*stopwatch));
  }
  return {};
}

Result<void> TrialBench::prepare_far_rows() {
  if (problem_.rows_layout != RowsLayout::strided || far_rows_missing_) return {};
  auto far = FarRows::make(*device_, *kinds_);
  if (far) {
    far_.emplace(std::move(*far));
  } else if (far.error().code == ErrorCode::unimplemented) {
    far_rows_missing_ = true;
    std::fprintf(stderr, "normd worker: row offsets beyond 32 bits are not checked: %s\n",
                 far.error().message.c_str());
  } else {
    return fail(std::move(far.error()));
  }
  return {};
}

Result<TrialBench::LoadedCandidate> TrialBench::load(const Binary& binary, const Launch& launch) {
  auto kernel = device_->load(binary, launch);
  if (!kernel) return fail(std::move(kernel.error()));
  LoadedCandidate loaded{.kernel = std::move(*kernel), .workspace = std::nullopt};
  const std::int64_t rows =
      std::max({kinds_->problem().rows, sized_->problem().rows, far_rows_count});
  const std::size_t bytes = workspace_bytes(launch, rows);
  if (bytes == 0) return loaded;
  auto workspace = GuardedMemory::make(*device_, bytes, workspace_align_bytes);
  if (!workspace) return fail(std::move(workspace.error()));
  if (auto zeroed = device_->fill(workspace->address(), 0, bytes); !zeroed) {
    return fail(std::move(zeroed.error()));
  }
  loaded.workspace = std::move(*workspace);
  return loaded;
}

Verdict TrialBench::pass_gate(const Candidate& candidate, const LoadedCandidate& loaded,
                              Kernel* on_few_blocks) {
  const Template& entry = template_of(candidate);
  const Tolerance tolerance{.grade = entry.grade,
                            .sequential_adds = entry.sequential_adds(candidate, problem_)};
  const GateParts parts{.device = device_.get(),
                        .checker = checker_.get(),
                        .kinds = &*kinds_,
                        .sized_rows = rows_,
                        .sized = &*sized_,
                        .far = far_ ? &*far_ : nullptr,
                        .workspace = loaded.workspace ? &*loaded.workspace : nullptr};
  return run_gate(parts, *loaded.kernel, on_few_blocks, tolerance);
}

TrialBench::Tried TrialBench::try_candidate(int number, const Candidate& candidate,
                                            const Binary& binary, const Launch& launch,
                                            bool passed_before) {
  Tried tried;
  auto loaded = load(binary, launch);
  // For the gate alone.
  Result<std::unique_ptr<Kernel>> on_few_blocks(nullptr);
  if (loaded && !passed_before && launch.strides) {
    on_few_blocks = device_->load(binary, few_blocks(launch, kinds_->problem().rows));
  }
  if (!loaded || !on_few_blocks) {
    const Error& error = loaded ? on_few_blocks.error() : loaded.error();
    const bool memory = error.code == ErrorCode::resource_exhausted;
    tried.verdict = {.kind = memory ? VerdictKind::not_tried : VerdictKind::refused,
                     .reason = memory ? Reason::out_of_memory : Reason::load_error,
                     .detail = error.message};
    return tried;
  }
  tried.resources = loaded->kernel->resources();
  tried.verdict.kind = VerdictKind::measured;
  if (!passed_before) tried.verdict = pass_gate(candidate, *loaded, on_few_blocks->get());
  if (tried.verdict.kind == VerdictKind::measured) candidates_[number] = std::move(*loaded);
  return tried;
}

Result<TrialBench::Samples> TrialBench::sample(const std::vector<int>& numbers, std::size_t edge) {
  Samples samples;
  const DeviceCondition before = device_->condition();
  for (const int number : numbers) {
    const auto ns = sample_ns(number, edge);
    if (!ns) return fail(ns.error());
    samples.ns.push_back(*ns);
  }
  samples.condition = condition_during(before, device_->condition());
  return samples;
}

Result<double> TrialBench::sample_ns(int number, std::size_t edge) {
  if (edge >= stopwatches_.size()) {
    return fail(ErrorCode::invalid_argument, "no such edge is prepared", "edge");
  }
  Kernel* kernel = nullptr;
  void* workspace = nullptr;
  if (number >= 0) {
    const auto found = candidates_.find(number);
    if (found == candidates_.end()) {
      return fail(ErrorCode::invalid_argument,
                  "candidate " + std::to_string(number) + " is not loaded", "numbers");
    }
    kernel = found->second.kernel.get();
    workspace = found->second.workspace_address();
  }
  return stopwatches_[edge].sample_ns(kernel, workspace, turn_);
}

double bench_bytes(const Problem& problem, const std::vector<MeasuredEdge>& edges,
                   const DeviceSpec& spec) {
  const Problem mixed = mixed_problem(problem, spec);
  // What the first answer was is kept beside the mixed rows.
  double bytes = 2 * workload_bytes(mixed) +
                 workload_bytes(sized_problem(problem, rows_of(edges))) +
                 2.0 * static_cast<double>(spec.l2_bytes);
  if (problem.rows_layout == RowsLayout::strided) bytes += far_rows_bytes(problem);
  for (const MeasuredEdge& edge : edges) {
    bytes += stopwatch_bytes(at_rows(problem, edge.rows), edge.cache, spec);
  }
  return bytes;
}

void TrialBench::drop(int number) {
  const auto found = candidates_.find(number);
  if (found == candidates_.end()) return;
  for (Stopwatch& stopwatch : stopwatches_) stopwatch.forget(found->second.kernel.get());
  candidates_.erase(found);
}

}  // namespace normd
