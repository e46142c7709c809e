#include "tuner/worker/workload.h"

#include <algorithm>

#include "kernels/check.h"
#include "tuner/worker/input_data.h"
#include "tuner/worker/row_check.h"

namespace normd {

Workload::Workload(Device& device, ByteComparer& comparer, const Problem& problem)
    : device_(&device), comparer_(&comparer), problem_(problem), spans_(buffer_spans(problem)) {
  NORMD_CHECK(problem.rows > 0);
}

Result<void> Workload::allocate(std::uint64_t seed) {
  const auto make = [&]<typename Guarded>(std::optional<Guarded>& to, std::size_t bytes,
                                          int align_bytes) -> Result<void> {
    auto memory = Guarded::make(*device_, bytes, align_bytes);
    if (!memory) return fail(std::move(memory.error()));
    to.emplace(std::move(*memory));
    return {};
  };
  const auto aligned = [&](DType dtype) {
    return std::max(problem_.align_bytes, static_cast<int>(size_bytes(dtype)));
  };
  const auto parameter = [&](std::optional<GuardedInput>& to, DType dtype,
                             std::vector<char> values) -> Result<void> {
    if (auto made = make(to, values.size(), aligned(dtype)); !made) return made;
    return to->fill(std::move(values));
  };
  const std::int64_t columns = problem_.columns;
  const std::int64_t rows = problem_.rows;
  Result<void> done = make(x_, spans_.x.bytes(rows), aligned(problem_.x));
  RowSpan y_largest = spans_.y;
  if (can_run_in_place()) y_largest.stride = std::max(spans_.x.stride, spans_.y.stride);
  if (done) done = make(y_, y_largest.bytes(rows), aligned(problem_.y));
  if (done && problem_.gamma) {
    done = parameter(gamma_, *problem_.gamma, make_gamma(*problem_.gamma, columns, seed));
  }
  if (done && problem_.beta) {
    done = parameter(beta_, *problem_.beta, make_beta(*problem_.beta, columns, seed));
  }
  const auto rows_bytes = static_cast<std::size_t>(rows) * sizeof(float);
  if (done && wants_mean(problem_.stats)) done = make(mean_, rows_bytes, 4);
  if (done && wants_rstd(problem_.stats)) done = make(rstd_, rows_bytes, 4);
  if (!done) return done;
  auto records = device_->allocate(check_records_bytes());
  if (!records) return fail(std::move(records.error()));
  records_ = std::move(*records);
  return {};
}

Result<Workload> Workload::kinds(Device& device, ByteComparer& comparer, const Problem& problem,
                                 Grade grade, std::uint64_t seed) {
  Workload workload(device, comparer, problem);
  if (auto done = workload.allocate(seed); !done) return fail(std::move(done.error()));
  if (auto done = workload.allocate_kept(); !done) return fail(std::move(done.error()));
  workload.kinds_ = row_kinds(problem.x, grade);
  workload.kinds_seed_ = seed;
  workload.laid_ = -1;
  if (auto done = workload.lay(0); !done) return fail(std::move(done.error()));
  return workload;
}

int Workload::layings() const {
  if (kinds_.empty()) return 1;
  const auto kinds = static_cast<std::int64_t>(kinds_.size());
  return static_cast<int>((kinds + problem_.rows - 1) / problem_.rows);
}

Result<void> Workload::lay(int number) {
  NORMD_CHECK(number >= 0 && number < layings());
  if (number == laid_) return {};
  // Equal shares, so that no laying is left with one kind alone.
  const auto share = [&](int end) {
    return kinds_.size() * static_cast<std::size_t>(end) / static_cast<std::size_t>(layings());
  };
  const bool whole = problem_.rows >= mixed_rows_period;
  const std::size_t end = whole ? static_cast<std::size_t>(mixed_rows_period) : share(number + 1);
  const auto gap =
      static_cast<std::size_t>(spans_.x.stride - problem_.columns) * size_bytes(problem_.x);
  std::vector<char> tile;
  for (std::size_t i = share(number); i < end; ++i) {
    const std::vector<char> row =
        make_row(kinds_[i % kinds_.size()], problem_.x, problem_.columns, kinds_seed_ + i + 1);
    tile.insert(tile.end(), row.begin(), row.end());
    tile.insert(tile.end(), gap, static_cast<char>(poison_byte));
  }
  laid_ = -1;  // until it is whole
  if (auto done = x_->fill(std::move(tile)); !done) return done;
  laid_ = number;
  return {};
}

Result<Workload> Workload::sized(Device& device, ByteComparer& comparer, const Problem& problem,
                                 std::uint64_t seed) {
  Workload workload(device, comparer, problem);
  if (auto done = workload.allocate(seed); !done) return fail(std::move(done.error()));
  const auto elements = static_cast<std::int64_t>(workload.x_->bytes() / size_bytes(problem.x));
  auto tile = make_normal(problem.x, std::min(elements, tile_elements), seed);
  if (auto done = workload.x_->fill(std::move(tile)); !done) return fail(std::move(done.error()));
  return workload;
}

NormArguments Workload::arguments(std::int64_t rows) const {
  NORMD_CHECK(rows <= problem_.rows);
  const auto address = [](const auto& memory) { return memory ? memory->address() : nullptr; };
  return NormArguments{.x = x_->address(),
                       .gamma = address(gamma_),
                       .beta = address(beta_),
                       .y = y_->address(),
                       .rows = rows,
                       .epsilon = workload_epsilon,
                       .flags = dtype_flags(problem_),
                       .mean = static_cast<float*>(address(mean_)),
                       .rstd = static_cast<float*>(address(rstd_)),
                       .workspace = nullptr,
                       .columns = problem_.columns,
                       .x_row_stride = spans_.x.stride,
                       .y_row_stride = spans_.y.stride};
}

NormArguments Workload::in_place_arguments(std::int64_t rows) const {
  NORMD_CHECK(can_run_in_place());
  NormArguments arguments = this->arguments(rows);
  arguments.x = arguments.y;
  arguments.y_row_stride = arguments.x_row_stride;
  return arguments;
}

Result<void> Workload::poison_outputs() {
  for (const auto* output : {&y_, &mean_, &rstd_}) {
    if (!*output) continue;
    if (auto done = device_->fill((*output)->address(), poison_byte, (*output)->bytes()); !done) {
      return done;
    }
  }
  return {};
}

Result<void> Workload::copy_x_into_y() {
  return device_->copy_within(y_->address(), x_->address(), std::min(x_->bytes(), y_->bytes()));
}

Result<CheckRecord> Workload::check(Kernel& checker, std::int64_t rows,
                                    const Tolerance& tolerance) const {
  return check_rows(*device_, checker, arguments(rows), *records_, tolerance);
}

Result<std::string> Workload::damaged_guard() const {
  for (const auto& [name, input] : {std::pair{"x", &x_}, {"gamma", &gamma_}, {"beta", &beta_}}) {
    if (!*input) continue;
    const auto intact = (*input)->guards_intact();
    if (!intact) return fail(intact.error());
    if (!*intact) return std::string(name);
  }
  for (const auto& [name, output] : {std::pair{"y", &y_}, {"mean", &mean_}, {"rstd", &rstd_}}) {
    if (!*output) continue;
    const auto intact = (*output)->intact();
    if (!intact) return fail(intact.error());
    if (!*intact) return std::string(name);
  }
  return std::string();
}

Result<std::string> Workload::changed_input() const {
  for (const auto& [name, input] : {std::pair{"x", &x_}, {"gamma", &gamma_}, {"beta", &beta_}}) {
    if (!*input) continue;
    const auto holds = (*input)->holds(*comparer_);
    if (!holds) return fail(holds.error());
    if (!*holds) return std::string(name);
  }
  return std::string();
}

Result<void> Workload::restore() {
  for (auto* input : {&x_, &gamma_, &beta_}) {
    if (!*input) continue;
    if (auto done = (*input)->restore(); !done) return done;
  }
  for (auto* output : {&y_, &mean_, &rstd_}) {
    if (!*output) continue;
    if (auto done = (*output)->arm(); !done) return done;
  }
  return {};
}

double workload_bytes(const Problem& problem) {
  const BufferSpans spans = buffer_spans(problem);
  return static_cast<double>(spans.x.bytes(problem.rows)) +
         static_cast<double>(spans.y.bytes(problem.rows)) + 8.0 * static_cast<double>(problem.rows);
}

}  // namespace normd
