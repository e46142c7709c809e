#include "tuner/worker/far_rows.h"

#include <algorithm>
#include <vector>

#include "kernels/check.h"

namespace normd {
namespace {

constexpr std::size_t page_bytes = std::size_t{2} << 20;  // of every GPU so far

// Where row 0 starts: as GuardedMemory puts it, aligned to what was promised and no better.
std::size_t start_of(const Problem& problem, const RowSpan& span) {
  return std::max(static_cast<std::size_t>(problem.align_bytes), size_bytes(span.dtype));
}

// A row, and behind it what an offset that was cut to 32 bits reaches from row 0.
std::size_t stretch_bytes(const RowSpan& span) {
  const std::int64_t cut = (far_rows_count - 1) * (span.stride & 0xffffffff);
  return static_cast<std::size_t>(span.columns + cut) * size_bytes(span.dtype);
}

std::size_t row_offset(const RowSpan& span, std::int64_t row) {
  return static_cast<std::size_t>(row * span.stride) * size_bytes(span.dtype);
}

}  // namespace

FarRows::FarRows(Device& device, const Workload& kinds)
    : device_(&device), kinds_(&kinds), spans_(far_spans(kinds.problem())) {
  NORMD_CHECK(kinds.problem().rows_layout == RowsLayout::strided);
}

Result<std::unique_ptr<Memory>> FarRows::allocate(const RowSpan& span) const {
  const std::size_t start = start_of(kinds_->problem(), span);
  std::vector<Stretch> stretches;
  for (std::int64_t row = 0; row < far_rows_count; ++row) {
    stretches.push_back({start + row_offset(span, row), stretch_bytes(span)});
  }
  return device_->allocate_sparse(stretches.back().offset + stretches.back().bytes, stretches);
}

Result<FarRows> FarRows::make(Device& device, const Workload& kinds) {
  FarRows far(device, kinds);
  const auto keep = [](std::unique_ptr<Memory>& to,
                       Result<std::unique_ptr<Memory>> memory) -> Result<void> {
    if (!memory) return fail(std::move(memory.error()));
    to = std::move(*memory);
    return {};
  };
  Result<void> done = keep(far.x_, far.allocate(far.spans_.x));
  if (done) done = keep(far.y_, far.allocate(far.spans_.y));
  const Stats stats = kinds.problem().stats;
  constexpr std::size_t rows_bytes = far_rows_count * sizeof(float);
  if (done && wants_mean(stats)) done = keep(far.mean_, device.allocate(rows_bytes));
  if (done && wants_rstd(stats)) done = keep(far.rstd_, device.allocate(rows_bytes));
  if (done) done = keep(far.records_, device.allocate(check_records_bytes()));
  if (!done) return fail(std::move(done.error()));
  return far;
}

char* FarRows::row_address(const Memory& memory, const RowSpan& span, std::int64_t row) const {
  return static_cast<char*>(memory.address()) + start_of(kinds_->problem(), span) +
         row_offset(span, row);
}

NormArguments FarRows::arguments() const {
  const auto floats = [](const std::unique_ptr<Memory>& memory) {
    return memory == nullptr ? nullptr : static_cast<float*>(memory->address());
  };
  NormArguments arguments = kinds_->arguments(1);
  arguments.x = row_address(*x_, spans_.x, 0);
  arguments.y = row_address(*y_, spans_.y, 0);
  arguments.mean = floats(mean_);
  arguments.rstd = floats(rstd_);
  arguments.rows = far_rows_count;
  arguments.x_row_stride = spans_.x.stride;
  arguments.y_row_stride = spans_.y.stride;
  return arguments;
}

Result<void> FarRows::lay() {
  const NormArguments from = kinds_->arguments(1);
  const std::size_t row_bytes =
      static_cast<std::size_t>(spans_.x.columns) * size_bytes(spans_.x.dtype);
  Result<void> done;
  for (std::int64_t row = 0; row < far_rows_count; ++row) {
    // Every second one, to have rows from all kinds.
    const std::int64_t source = 2 * row % kinds_->problem().rows;
    const char* begin =
        static_cast<const char*>(from.x) +
        static_cast<std::size_t>(source * from.x_row_stride) * size_bytes(spans_.x.dtype);
    char* x = row_address(*x_, spans_.x, row);
    if (done) done = device_->copy_within(x, begin, row_bytes);
    if (done) done = device_->fill(x + row_bytes, 0, stretch_bytes(spans_.x) - row_bytes);
    if (done) {
      done = device_->fill(row_address(*y_, spans_.y, row), poison_byte, stretch_bytes(spans_.y));
    }
  }
  for (const auto* memory : {&mean_, &rstd_}) {
    if (!done || *memory == nullptr) continue;
    done = device_->fill((*memory)->address(), poison_byte, (*memory)->bytes());
  }
  return done;
}

Result<CheckRecord> FarRows::check(Kernel& checker, const Tolerance& tolerance) const {
  return check_rows(*device_, checker, arguments(), *records_, tolerance);
}

double far_rows_bytes(const Problem& problem) {
  const BufferSpans spans = far_spans(problem);
  double bytes = 0;
  for (const RowSpan& span : {spans.x, spans.y}) {
    // A stretch that begins within a page reaches into one more.
    bytes +=
        static_cast<double>(far_rows_count * (stretch_bytes(span) / page_bytes + 2) * page_bytes);
  }
  return bytes;
}

}  // namespace normd
