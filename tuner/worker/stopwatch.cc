#include "tuner/worker/stopwatch.h"

#include <algorithm>
#include <cmath>

#include "kernels/check.h"
#include "tuner/worker/input_data.h"

namespace normd {
namespace {

// Event and host clocks resolve about a microsecond, so a sample of 100 us is good to 1 %.
constexpr double sample_ns_min = 100e3;
constexpr int launches_max = 512;
// As many launches of the shortest kernels make a sample long enough.
constexpr int sets_max = 100;
// Buffers begin where allocations would.
constexpr std::size_t buffer_align_bytes = 256;
constexpr int warm_ups = 3;
// The driver copies whole megabytes at the memory's rate and odd sizes at two thirds of it, as seen
// on an H200; a control that slow would end tunings early. Large copies are measured without the
// rest and scaled.
constexpr std::size_t copy_step_bytes = std::size_t{1} << 20;

std::size_t even_copy_bytes(std::size_t bytes) {
  return bytes < 16 * copy_step_bytes ? bytes : bytes / copy_step_bytes * copy_step_bytes;
}

// Tensors that promise less than a full access begin on no more than they promise.
std::size_t begin_of(const Problem& problem, DType dtype) {
  if (problem.align_bytes >= 16) return 0;
  return std::max(static_cast<std::size_t>(problem.align_bytes), size_bytes(dtype));
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + buffer_align_bytes - 1) / buffer_align_bytes * buffer_align_bytes;
}

}  // namespace

std::size_t Stopwatch::x_bytes() const {
  return spans_.x.bytes(problem_.rows);
}

// The elements alone: what lies between strided rows is nobody's work.
std::size_t Stopwatch::copy_bytes() const {
  return static_cast<std::size_t>(problem_.rows * problem_.columns) *
         std::min(size_bytes(problem_.x), size_bytes(problem_.y));
}

Stopwatch::SetPlan Stopwatch::plan_of(const Problem& problem) {
  const BufferSpans spans = buffer_spans(problem);
  const auto rows_bytes = aligned(static_cast<std::size_t>(problem.rows) * sizeof(float));
  SetPlan plan{};
  plan.x = begin_of(problem, problem.x);
  const std::size_t x_end = aligned(plan.x + spans.x.bytes(problem.rows));
  plan.y = x_end + begin_of(problem, problem.y);
  plan.mean = aligned(plan.y + spans.y.bytes(problem.rows));
  plan.rstd = plan.mean + (wants_mean(problem.stats) ? rows_bytes : 0);
  plan.bytes = plan.rstd + (wants_rstd(problem.stats) ? rows_bytes : 0);
  return plan;
}

int Stopwatch::sets_of(const Problem& problem, CacheState cache, const DeviceSpec& spec) {
  if (cache == CacheState::warm) return 1;
  const double wanted = 2.0 * static_cast<double>(spec.l2_bytes);
  const double bytes = std::max(1.0, static_cast<double>(plan_of(problem).bytes));
  return static_cast<int>(std::clamp(std::ceil(wanted / bytes), 1.0, double{sets_max}));
}

bool Stopwatch::wants_sweep() const {
  const double bytes = static_cast<double>(plan_.bytes) * sets_;
  return cache_ == CacheState::cold && bytes < 2.0 * static_cast<double>(device_->spec().l2_bytes);
}

Result<void> Stopwatch::make_sets(const Workload& source) {
  sets_ = sets_of(problem_, cache_, device_->spec());
  auto memory = device_->allocate(plan_.bytes * static_cast<std::size_t>(sets_));
  if (!memory) return fail(std::move(memory.error()));
  buffers_ = std::move(*memory);
  char* const begin = static_cast<char*>(buffers_->address());
  for (int i = 0; i < sets_; ++i) {
    char* const x = begin + static_cast<std::size_t>(i) * plan_.bytes + plan_.x;
    if (auto done = device_->copy_within(x, source.x_address(), x_bytes()); !done) return done;
  }
  return {};
}

Result<Stopwatch> Stopwatch::make(Device& device, CacheSweep& sweep, const Problem& problem,
                                  CacheState cache, const Workload& source) {
  Stopwatch stopwatch(device, sweep, problem, cache);
  const auto parameter = [&](std::unique_ptr<Memory>& to, std::optional<DType> dtype,
                             auto make_values) -> Result<void> {
    if (!dtype) return {};
    const std::vector<char> values = make_values(*dtype, problem.columns, std::uint64_t{1});
    auto memory = device.allocate(values.size());
    if (!memory) return fail(std::move(memory.error()));
    to = std::move(*memory);
    return device.copy_in(to->address(), values.data(), values.size());
  };
  if (auto done = parameter(stopwatch.gamma_, problem.gamma, make_gamma); !done) {
    return fail(std::move(done.error()));
  }
  if (auto done = parameter(stopwatch.beta_, problem.beta, make_beta); !done) {
    return fail(std::move(done.error()));
  }
  if (auto done = stopwatch.make_sets(source); !done) return fail(std::move(done.error()));
  return stopwatch;
}

NormArguments Stopwatch::arguments(int index, void* workspace) const {
  char* const set = static_cast<char*>(buffers_->address()) +
                    static_cast<std::size_t>(index % sets_) * plan_.bytes;
  const auto address = [](const std::unique_ptr<Memory>& memory) {
    return memory ? memory->address() : nullptr;
  };
  const auto statistic = [&](bool wanted, std::size_t at) {
    return wanted ? reinterpret_cast<float*>(set + at) : nullptr;
  };
  return NormArguments{.x = set + plan_.x,
                       .gamma = address(gamma_),
                       .beta = address(beta_),
                       .y = set + plan_.y,
                       .rows = problem_.rows,
                       .epsilon = workload_epsilon,
                       .flags = dtype_flags(problem_),
                       .mean = statistic(wants_mean(problem_.stats), plan_.mean),
                       .rstd = statistic(wants_rstd(problem_.stats), plan_.rstd),
                       .workspace = workspace,
                       .columns = problem_.columns,
                       .x_row_stride = spans_.x.stride,
                       .y_row_stride = spans_.y.stride};
}

Result<Stopwatch::Recorded> Stopwatch::record(Kernel* kernel, void* workspace, int launches) {
  std::vector<NormArguments> arguments_kept;
  arguments_kept.reserve(static_cast<std::size_t>(launches));  // the calls hold views of them
  std::vector<Call> calls;
  for (int i = 0; i < launches; ++i) {
    arguments_kept.push_back(arguments(i, workspace));
    const NormArguments& kept = arguments_kept.back();
    if (kernel != nullptr) {
      calls.emplace_back(KernelCall{kernel, bytes_of(kept), problem_.rows});
    } else {
      calls.emplace_back(CopyCall{kept.y, kept.x, even_copy_bytes(copy_bytes())});
    }
  }
  auto sequence = device_->record(calls);
  if (!sequence) return fail(std::move(sequence.error()));
  return Recorded{std::move(*sequence), launches};
}

// What was sampled before may have been another problem's size, and swept the cache.
Result<void> Stopwatch::make_cache(Recorded& recorded) {
  if (wants_sweep()) return sweep_->run();
  if (cache_ == CacheState::cold) return {};
  const auto untimed = device_->replay_ns(*recorded.sequence);
  if (!untimed) return fail(untimed.error());
  return {};
}

Result<double> Stopwatch::sample_ns(Kernel* kernel, void* workspace, DeviceTurn& turn) {
  const double scale = kernel != nullptr ? 1.0
                                         : static_cast<double>(copy_bytes()) /
                                               static_cast<double>(even_copy_bytes(copy_bytes()));
  const auto timed = [&](Recorded& recorded) -> Result<double> {
    turn.take();
    const auto ready = make_cache(recorded);
    const auto elapsed = ready ? device_->replay_ns(*recorded.sequence) : fail(ready.error());
    turn.give();
    if (!elapsed) return fail(elapsed.error());
    return *elapsed / recorded.launches * scale;
  };
  if (launches_ == 0) {
    // The control copy says how many launches make a sample long enough; every candidate then
    // runs equally many.
    auto probe = record(nullptr, nullptr, sets_);
    if (!probe) return fail(std::move(probe.error()));
    if (auto warm = timed(*probe); !warm) return warm;
    const auto one = timed(*probe);
    if (!one) return one;
    const double launches = std::ceil(sample_ns_min / std::max(*one, 100.0));
    // Where the cache is swept, no set comes round again within a sample.
    const int most = wants_sweep() ? sets_ : launches_max;
    launches_ = std::clamp(static_cast<int>(launches), sets_, most);
  }
  auto found = recorded_.find(kernel);
  if (found == recorded_.end()) {
    auto recorded = record(kernel, workspace, launches_);
    if (!recorded) return fail(std::move(recorded.error()));
    found = recorded_.emplace(kernel, std::move(*recorded)).first;
    for (int i = 0; i < warm_ups; ++i) {
      if (auto warm = timed(found->second); !warm) return warm;
    }
  }
  return timed(found->second);
}

void Stopwatch::forget(const Kernel* kernel) {
  recorded_.erase(kernel);
}

double stopwatch_bytes(const Problem& problem, CacheState cache, const DeviceSpec& spec) {
  return static_cast<double>(Stopwatch::plan_of(problem).bytes) *
         Stopwatch::sets_of(problem, cache, spec);
}

}  // namespace normd
