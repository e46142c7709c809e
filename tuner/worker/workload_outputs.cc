// What a Workload keeps of an answer, to compare later ones with, and what lies between its rows.
#include "kernels/check.h"
#include "tuner/worker/workload.h"

namespace normd {

Result<void> Workload::allocate_kept() {
  const auto make = [&](std::unique_ptr<Memory>& to,
                        const std::optional<GuardedMemory>& like) -> Result<void> {
    if (!like) return {};
    auto memory = device_->allocate(like->bytes());
    if (!memory) return fail(std::move(memory.error()));
    to = std::move(*memory);
    return {};
  };
  Result<void> done = make(kept_y_, y_);
  if (done) done = make(kept_mean_, mean_);
  if (done) done = make(kept_rstd_, rstd_);
  return done;
}

Result<void> Workload::keep_outputs() {
  NORMD_CHECK(kept_y_ != nullptr);
  for (const auto& [kept, output] :
       {std::pair{&kept_y_, &y_}, {&kept_mean_, &mean_}, {&kept_rstd_, &rstd_}}) {
    if (!*output) continue;
    auto done = device_->copy_within((*kept)->address(), (*output)->address(), (*output)->bytes());
    if (!done) return done;
  }
  return {};
}

Result<std::optional<std::int64_t>> Workload::change_of_outputs(std::int64_t rows,
                                                                bool in_place) const {
  NORMD_CHECK(kept_y_ != nullptr && rows <= problem_.rows);
  const auto count = static_cast<std::size_t>(rows);
  const std::size_t element = size_bytes(problem_.y);
  const std::size_t row_bytes = static_cast<std::size_t>(problem_.columns) * element;
  const auto y_rows = [&](const void* address, const RowSpan& span) {
    return ByteRows{address, count, row_bytes, static_cast<std::size_t>(span.stride) * element};
  };
  const auto y = comparer_->difference(y_rows(y_->address(), in_place ? spans_.x : spans_.y),
                                       y_rows(kept_y_->address(), spans_.y));
  if (!y || *y) return y;
  std::size_t before = count * row_bytes;
  for (const auto& [kept, output] : {std::pair{&kept_mean_, &mean_}, {&kept_rstd_, &rstd_}}) {
    if (!*output) continue;
    const std::size_t bytes = count * sizeof(float);
    auto difference = comparer_->difference({(*output)->address(), 1, bytes, 0},
                                            {(*kept)->address(), 1, bytes, 0});
    if (!difference) return difference;
    if (*difference) return **difference + static_cast<std::int64_t>(before);
    before += bytes;
  }
  return std::nullopt;
}

Result<bool> Workload::gaps_untouched(std::int64_t rows) const {
  if (spans_.y.stride == problem_.columns) return true;
  std::vector<char> bytes(spans_.y.bytes(rows));
  if (auto copied = device_->copy_out(bytes.data(), y_->address(), bytes.size()); !copied) {
    return fail(std::move(copied.error()));
  }
  return spans_.y.gaps_hold(bytes, rows, poison_byte);
}

}  // namespace normd
