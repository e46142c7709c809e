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
constexpr int sets_max = 64;
constexpr int warm_ups = 3;
// The driver copies whole megabytes at the memory's rate and odd sizes at two thirds of it, as seen
// on an H200; a control that slow would end tunings early. Large copies are measured without the
// rest and scaled.
constexpr std::size_t copy_step_bytes = std::size_t{1} << 20;

std::size_t even_copy_bytes(std::size_t bytes) {
  return bytes < 16 * copy_step_bytes ? bytes : bytes / copy_step_bytes * copy_step_bytes;
}

}  // namespace

std::size_t Stopwatch::x_bytes() const {
  return spans_.x.bytes(problem_.rows);
}
std::size_t Stopwatch::y_bytes() const {
  return spans_.y.bytes(problem_.rows);
}

// The elements alone: what lies between strided rows is nobody's work.
std::size_t Stopwatch::copy_bytes() const {
  return static_cast<std::size_t>(problem_.rows * problem_.columns) *
         std::min(size_bytes(problem_.x), size_bytes(problem_.y));
}

Result<Stopwatch::BufferSet> Stopwatch::make_set(const Workload& source) {
  BufferSet set;
  const auto allocate = [&](std::unique_ptr<Memory>& to, std::size_t bytes) -> Result<void> {
    auto memory = device_->allocate(bytes);
    if (!memory) return fail(std::move(memory.error()));
    to = std::move(*memory);
    return {};
  };
  const auto rows_bytes = static_cast<std::size_t>(problem_.rows) * sizeof(float);
  Result<void> done = allocate(set.x, x_bytes());
  if (done) done = allocate(set.y, y_bytes());
  if (done && wants_mean(problem_.stats)) done = allocate(set.mean, rows_bytes);
  if (done && wants_rstd(problem_.stats)) done = allocate(set.rstd, rows_bytes);
  if (done) done = device_->copy_within(set.x->address(), source.x_address(), x_bytes());
  if (!done) return fail(std::move(done.error()));
  return set;
}

Result<Stopwatch> Stopwatch::make(Device& device, const Problem& problem, CacheState cache,
                                  const Workload& source) {
  Stopwatch stopwatch(device, problem, cache);
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
  const double bytes = static_cast<double>(stopwatch.x_bytes() + stopwatch.y_bytes());
  const double wanted = 2.0 * static_cast<double>(device.spec().l2_bytes);
  const int sets = cache == CacheState::warm
                       ? 1
                       : std::clamp(static_cast<int>(std::ceil(wanted / bytes)), 1, sets_max);
  for (int i = 0; i < sets; ++i) {
    auto set = stopwatch.make_set(source);
    if (!set) return fail(std::move(set.error()));
    stopwatch.sets_.push_back(std::move(*set));
  }
  return stopwatch;
}

NormArguments Stopwatch::arguments(int index, void* workspace) const {
  const BufferSet& set = sets_[static_cast<std::size_t>(index) % sets_.size()];
  const auto address = [](const std::unique_ptr<Memory>& memory) {
    return memory ? memory->address() : nullptr;
  };
  return NormArguments{.x = set.x->address(),
                       .gamma = address(gamma_),
                       .beta = address(beta_),
                       .y = set.y->address(),
                       .mean = static_cast<float*>(address(set.mean)),
                       .rstd = static_cast<float*>(address(set.rstd)),
                       .workspace = workspace,
                       .rows = problem_.rows,
                       .columns = problem_.columns,
                       .x_row_stride = spans_.x.stride,
                       .y_row_stride = spans_.y.stride,
                       .epsilon = workload_epsilon,
                       .flags = dtype_flags(problem_)};
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

Result<double> Stopwatch::sample_ns(Kernel* kernel, void* workspace, DeviceTurn& turn) {
  const double scale = kernel != nullptr ? 1.0
                                         : static_cast<double>(copy_bytes()) /
                                               static_cast<double>(even_copy_bytes(copy_bytes()));
  const auto timed = [&](Recorded& recorded) -> Result<double> {
    turn.take();
    const auto elapsed = device_->replay_ns(*recorded.sequence);
    turn.give();
    if (!elapsed) return fail(elapsed.error());
    return *elapsed / recorded.launches * scale;
  };
  if (launches_ == 0) {
    // The control copy says how many launches make a sample long enough; every candidate then
    // runs equally many.
    auto probe = record(nullptr, nullptr, static_cast<int>(sets_.size()));
    if (!probe) return fail(std::move(probe.error()));
    if (auto warm = timed(*probe); !warm) return warm;
    const auto one = timed(*probe);
    if (!one) return one;
    const double launches = std::ceil(sample_ns_min / std::max(*one, 100.0));
    launches_ =
        std::clamp(static_cast<int>(launches), static_cast<int>(sets_.size()), launches_max);
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

CacheState ranking_cache_state(const Problem& problem, const DeviceSpec& spec) {
  return useful_bytes(problem) <= static_cast<double>(spec.l2_bytes) / 2 ? CacheState::warm
                                                                         : CacheState::cold;
}

}  // namespace normd
