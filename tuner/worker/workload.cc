#include "tuner/worker/workload.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/catalog.h"
#include "kernels/check.h"
#include "tuner/worker/input_data.h"

namespace normd {
namespace {

// Normal data repeats with this period: no multiple of any likely row, so that rows differ.
constexpr std::int64_t tile_elements = 1048573;

// The checker's grid is bounded by its Launch.
std::int64_t records_max() {
  return grid_blocks(check_rows_launch(), std::int64_t{1} << 40);
}

Result<void> copy_to(Device& device, const std::optional<GuardedMemory>& to,
                     const std::vector<char>& from) {
  if (!to) return {};
  return device.copy_in(to->address(), from.data(), from.size());
}

Result<bool> still_holds(Device& device, const std::optional<GuardedMemory>& memory,
                         const std::vector<char>& expected, std::size_t period) {
  if (!memory) return true;
  std::vector<char> now(memory->bytes());
  if (auto copied = device.copy_out(now.data(), memory->address(), now.size()); !copied) {
    return fail(std::move(copied.error()));
  }
  for (std::size_t at = 0; at < now.size(); at += period) {
    if (std::memcmp(now.data() + at, expected.data(), std::min(period, now.size() - at)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

Workload::Workload(Device& device, const Problem& problem)
    : device_(&device), problem_(problem), spans_(buffer_spans(problem)) {
  NORMD_CHECK(problem.rows > 0);
}

Result<void> Workload::allocate(std::uint64_t seed) {
  const auto make = [&](std::optional<GuardedMemory>& to, std::size_t bytes,
                        int align_bytes) -> Result<void> {
    auto memory = GuardedMemory::make(*device_, bytes, align_bytes);
    if (!memory) return fail(std::move(memory.error()));
    to = std::move(*memory);
    return {};
  };
  const auto aligned = [&](DType dtype) {
    return std::max(problem_.align_bytes, static_cast<int>(size_bytes(dtype)));
  };
  const std::int64_t columns = problem_.columns;
  const std::int64_t rows = problem_.rows;
  Result<void> done = make(x_, spans_.x.bytes(rows), aligned(problem_.x));
  RowSpan y_largest = spans_.y;
  if (can_run_in_place()) y_largest.stride = std::max(spans_.x.stride, spans_.y.stride);
  if (done) done = make(y_, y_largest.bytes(rows), aligned(problem_.y));
  if (done && problem_.gamma) {
    gamma_host_ = make_gamma(*problem_.gamma, columns, seed);
    done = make(gamma_, gamma_host_.size(), aligned(*problem_.gamma));
  }
  if (done && problem_.beta) {
    beta_host_ = make_beta(*problem_.beta, columns, seed);
    done = make(beta_, beta_host_.size(), aligned(*problem_.beta));
  }
  const auto rows_bytes = static_cast<std::size_t>(rows) * sizeof(float);
  if (done && wants_mean(problem_.stats)) done = make(mean_, rows_bytes, 4);
  if (done && wants_rstd(problem_.stats)) done = make(rstd_, rows_bytes, 4);
  if (done) done = copy_to(*device_, gamma_, gamma_host_);
  if (done) done = copy_to(*device_, beta_, beta_host_);
  if (!done) return done;
  auto records = device_->allocate(static_cast<std::size_t>(records_max()) * sizeof(CheckRecord));
  if (!records) return fail(std::move(records.error()));
  records_ = std::move(*records);
  return {};
}

// Copies the block to the beginning of x and doubles what is there until x is full.
Result<void> Workload::tile_x(const std::vector<char>& block) {
  const std::size_t total = x_->bytes();
  std::size_t done = std::min(block.size(), total);
  char* x = static_cast<char*>(x_->address());
  if (auto copied = device_->copy_in(x, block.data(), done); !copied) return copied;
  while (done < total) {
    const std::size_t more = std::min(done, total - done);
    if (auto copied = device_->copy_within(x + done, x, more); !copied) return copied;
    done += more;
  }
  return {};
}

Result<Workload> Workload::kinds(Device& device, const Problem& problem, Grade grade,
                                 std::uint64_t seed) {
  Workload workload(device, problem);
  if (auto done = workload.allocate(seed); !done) return fail(std::move(done.error()));
  const auto size = size_bytes(problem.x);
  std::vector<char> block;
  for (const RowKind kind : row_kinds(problem.x, grade)) {
    const std::vector<char> row = make_row(kind, problem.x, problem.columns, ++seed);
    block.insert(block.end(), row.begin(), row.end());
    const auto gap = static_cast<std::size_t>(workload.spans_.x.stride - problem.columns) * size;
    block.insert(block.end(), gap, static_cast<char>(poison_byte));
  }
  if (auto done = workload.tile_x(block); !done) return fail(std::move(done.error()));
  workload.x_block_ = std::move(block);
  return workload;
}

Result<Workload> Workload::sized(Device& device, const Problem& problem, std::uint64_t seed) {
  Workload workload(device, problem);
  if (auto done = workload.allocate(seed); !done) return fail(std::move(done.error()));
  const auto elements = static_cast<std::int64_t>(workload.x_->bytes() / size_bytes(problem.x));
  const auto block = make_normal(problem.x, std::min(elements, tile_elements), seed);
  if (auto done = workload.tile_x(block); !done) return fail(std::move(done.error()));
  return workload;
}

NormArguments Workload::arguments(std::int64_t rows) const {
  NORMD_CHECK(rows <= problem_.rows);
  const auto address = [](const std::optional<GuardedMemory>& memory) {
    return memory ? memory->address() : nullptr;
  };
  return NormArguments{.x = x_->address(),
                       .gamma = address(gamma_),
                       .beta = address(beta_),
                       .y = y_->address(),
                       .mean = static_cast<float*>(address(mean_)),
                       .rstd = static_cast<float*>(address(rstd_)),
                       .workspace = nullptr,
                       .rows = rows,
                       .columns = problem_.columns,
                       .x_row_stride = spans_.x.stride,
                       .y_row_stride = spans_.y.stride,
                       .epsilon = workload_epsilon,
                       .flags = dtype_flags(problem_)};
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
  const NormArguments ran = arguments(rows);
  const CheckArguments arguments{
      .x = ran.x,
      .gamma = ran.gamma,
      .beta = ran.beta,
      .y = ran.y,
      .mean = ran.mean,
      .rstd = ran.rstd,
      .records = static_cast<CheckRecord*>(records_->address()),
      .rows = rows,
      .columns = ran.columns,
      .x_row_stride = ran.x_row_stride,
      .y_row_stride = ran.y_row_stride,
      .sequential_adds =
          tolerance.grade == Grade::exact ? 0.0 : static_cast<double>(tolerance.sequential_adds),
      .epsilon = ran.epsilon,
      .flags = ran.flags};
  const auto blocks = static_cast<std::size_t>(grid_blocks(checker.launch(), rows));
  std::vector<CheckRecord> records(blocks);
  auto done = device_->launch({&checker, bytes_of(arguments), rows});
  if (done) {
    done = device_->copy_out(records.data(), records_->address(), blocks * sizeof(CheckRecord));
  }
  if (!done) return fail(std::move(done.error()));

  CheckRecord all = records.front();
  for (std::size_t i = 1; i < records.size(); ++i) {
    const CheckRecord& one = records[i];
    const CheckRecord& worse = one.error_over_bound > all.error_over_bound ? one : all;
    const CheckRecord sums{.failures = all.failures + one.failures,
                           .row = worse.row,
                           .column = worse.column,
                           .got = worse.got,
                           .expected = worse.expected,
                           .bound = worse.bound,
                           .error_over_bound = worse.error_over_bound,
                           .error_max = std::max(all.error_max, one.error_max),
                           .error_square_sum = all.error_square_sum + one.error_square_sum,
                           .square_sum = all.square_sum + one.square_sum};
    all = sums;
  }
  return all;
}

Result<std::string> Workload::damaged_guard() {
  const std::pair<const char*, std::optional<GuardedMemory>*> buffers[] = {
      {"x", &x_}, {"gamma", &gamma_}, {"beta", &beta_},
      {"y", &y_}, {"mean", &mean_},   {"rstd", &rstd_}};
  for (const auto& [name, memory] : buffers) {
    if (!*memory) continue;
    const auto intact = (*memory)->intact();
    if (!intact) return fail(intact.error());
    if (*intact) continue;
    if (auto armed = (*memory)->arm(); !armed) return fail(std::move(armed.error()));
    return std::string(name);
  }
  return std::string();
}

Result<std::string> Workload::changed_input() const {
  NORMD_CHECK(!x_block_.empty());
  const auto x = still_holds(*device_, x_, x_block_, x_block_.size());
  if (!x) return fail(x.error());
  if (!*x) return std::string("x");
  const auto gamma =
      still_holds(*device_, gamma_, gamma_host_, std::max<std::size_t>(1, gamma_host_.size()));
  if (!gamma) return fail(gamma.error());
  if (!*gamma) return std::string("gamma");
  const auto beta =
      still_holds(*device_, beta_, beta_host_, std::max<std::size_t>(1, beta_host_.size()));
  if (!beta) return fail(beta.error());
  return std::string(*beta ? "" : "beta");
}

Result<std::vector<char>> Workload::y_bytes(std::int64_t rows, const RowSpan& span) const {
  std::vector<char> bytes(span.bytes(rows));
  if (auto copied = device_->copy_out(bytes.data(), y_->address(), bytes.size()); !copied) {
    return fail(std::move(copied.error()));
  }
  return bytes;
}

Result<std::vector<char>> Workload::outputs(std::int64_t rows, bool in_place) const {
  RowSpan span = spans_.y;
  if (in_place) span.stride = spans_.x.stride;
  const auto bytes = y_bytes(rows, span);
  if (!bytes) return fail(bytes.error());
  std::vector<char> all = span.dense(*bytes, rows);
  for (const auto* output : {&mean_, &rstd_}) {
    if (!*output) continue;
    std::vector<char> values(static_cast<std::size_t>(rows) * sizeof(float));
    if (auto copied = device_->copy_out(values.data(), (*output)->address(), values.size());
        !copied) {
      return fail(std::move(copied.error()));
    }
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

Result<bool> Workload::gaps_untouched(std::int64_t rows) const {
  if (spans_.y.stride == problem_.columns) return true;
  const auto bytes = y_bytes(rows, spans_.y);
  if (!bytes) return fail(bytes.error());
  return spans_.y.gaps_hold(*bytes, rows, poison_byte);
}

double workload_bytes(const Problem& problem) {
  const BufferSpans spans = buffer_spans(problem);
  return static_cast<double>(spans.x.bytes(problem.rows)) +
         static_cast<double>(spans.y.bytes(problem.rows)) + 8.0 * static_cast<double>(problem.rows);
}

}  // namespace normd
