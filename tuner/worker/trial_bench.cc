#include "tuner/worker/trial_bench.h"

#include <algorithm>
#include <cmath>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/limits.h"
#include "tuner/compiler/prebuilt.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

constexpr std::uint64_t seed = 20260101;  // the same data in every tuning

Problem mixed_problem(Problem problem, const DeviceSpec& spec) {
  problem.rows = kinds_rows(problem, spec);
  return problem;
}

Problem sized_problem(Problem problem, const std::vector<std::int64_t>& rows) {
  problem.rows = *std::max_element(rows.begin(), rows.end());
  return problem;
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
  std::unique_ptr<TrialBench> bench(new TrialBench(std::move(*device), std::move(*turn)));
  bench->checker_ = std::move(*checker);
  return bench;
}

void TrialBench::clear() {
  stopwatches_.clear();
  candidates_.clear();
  kinds_.reset();
  sized_.reset();
  rows_.clear();
}

Result<void> TrialBench::prepare(const Problem& problem, const std::vector<std::int64_t>& rows,
                                 Grade grade) {
  NORMD_CHECK(!rows.empty());
  clear();
  problem_ = problem;
  grade_ = grade;
  const Problem mixed = mixed_problem(problem, device_->spec());
  const Problem sized = sized_problem(problem, rows);
  if (const double bytes = bench_bytes(problem, rows, device_->spec());
      bytes > static_cast<double>(limits::tuning_memory_bytes_max)) {
    return fail(ErrorCode::resource_exhausted, "measuring " + to_text(sized) + " would take " +
                                                   std::to_string(std::llround(bytes)) +
                                                   " bytes of device memory, allowed are " +
                                                   std::to_string(limits::tuning_memory_bytes_max));
  }
  auto kinds_workload = Workload::kinds(*device_, mixed, grade, seed);
  if (!kinds_workload) return fail(std::move(kinds_workload.error()));
  auto sized_workload = Workload::sized(*device_, sized, seed);
  if (!sized_workload) return fail(std::move(sized_workload.error()));
  kinds_ = std::move(*kinds_workload);
  sized_ = std::move(*sized_workload);
  for (const std::int64_t count : rows) {
    Problem edge = problem;
    edge.rows = count;
    auto stopwatch =
        Stopwatch::make(*device_, edge, ranking_cache_state(edge, device_->spec()), *sized_);
    if (!stopwatch) return fail(std::move(stopwatch.error()));
    stopwatches_.push_back(std::move(*stopwatch));
  }
  rows_ = rows;
  return {};
}

Result<TrialBench::LoadedCandidate> TrialBench::load(const Binary& binary, const Launch& launch) {
  auto kernel = device_->load(binary, launch);
  if (!kernel) return fail(std::move(kernel.error()));
  LoadedCandidate loaded{.kernel = std::move(*kernel), .workspace = std::nullopt};
  const std::int64_t rows = std::max(kinds_->problem().rows, sized_->problem().rows);
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
                              Kernel& on_few_blocks) {
  const Template& entry = template_of(candidate);
  const Tolerance tolerance{.grade = entry.grade,
                            .sequential_adds = entry.sequential_adds(candidate, problem_)};
  const GateParts parts{.device = device_.get(),
                        .checker = checker_.get(),
                        .kinds = &*kinds_,
                        .sized_rows = rows_,
                        .sized = &*sized_,
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
  if (loaded && !passed_before) {
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
  if (!passed_before) tried.verdict = pass_gate(candidate, *loaded, **on_few_blocks);
  if (tried.verdict.kind == VerdictKind::measured) candidates_[number] = std::move(*loaded);
  return tried;
}

Result<TrialBench::Timed> TrialBench::sample(int number, std::size_t edge) {
  if (edge >= stopwatches_.size()) {
    return fail(ErrorCode::invalid_argument, "no such row count is prepared", "edge");
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
  const auto ns = stopwatches_[edge].sample_ns(kernel, workspace, turn_);
  if (!ns) return fail(ns.error());
  return Timed{*ns, stopwatches_[edge].cache()};
}

double bench_bytes(const Problem& problem, const std::vector<std::int64_t>& rows,
                   const DeviceSpec& spec) {
  // x and y of the larger workload lie there once more for each row count that is timed.
  return workload_bytes(mixed_problem(problem, spec)) +
         3.0 * workload_bytes(sized_problem(problem, rows));
}

void TrialBench::drop(int number) {
  const auto found = candidates_.find(number);
  if (found == candidates_.end()) return;
  for (Stopwatch& stopwatch : stopwatches_) stopwatch.forget(found->second.kernel.get());
  candidates_.erase(found);
}

}  // namespace normd
