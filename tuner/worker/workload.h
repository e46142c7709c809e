// Workload: a problem with seeded inputs and guarded outputs in device memory, of two kinds:
// `kinds`, where neighbouring rows hold different sorts of data, for the gate; and `sized`, normal
// data at the rows that are measured. The expected answer is the checker's (check_rows) on the
// untouched x. Very wide rows of `kinds` do not lie in memory all at once: they come in several
// layings. Belongs to its Device's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/check_arguments.h"
#include "kernels/tolerance.h"
#include "tuner/worker/guarded_input.h"
#include "tuner/worker/guarded_memory.h"
#include "tuner/worker/input_data.h"
#include "tuner/worker/row_span.h"

namespace normd {

inline constexpr unsigned char poison_byte = 0xff;  // a NaN in every dtype
inline constexpr float workload_epsilon = 1e-5f;
// Mixed rows repeat with this period: three times every kind and two more, with other numbers each
// time. A prime, so that the next row of a block is another one whatever the grid; a period that
// divides the grid would hide what a row leaves to the next.
inline constexpr std::int64_t mixed_rows_period = 47;

class Workload {
 public:
  // `problem.rows` is the most rows that will be launched.
  static Result<Workload> kinds(Device& device, ByteComparer& comparer, const Problem& problem,
                                Grade grade, std::uint64_t seed);
  static Result<Workload> sized(Device& device, ByteComparer& comparer, const Problem& problem,
                                std::uint64_t seed);

  const Problem& problem() const { return problem_; }
  // `kinds` has one laying when its rows hold every kind at once; else each holds some of them.
  int layings() const;
  Result<void> lay(int number);  // nothing to do for the one that lies there
  bool can_run_in_place() const { return problem_.x == problem_.y; }

  NormArguments arguments(std::int64_t rows) const;           // x to y
  NormArguments in_place_arguments(std::int64_t rows) const;  // within y's buffer

  Result<void> poison_outputs();  // every byte of y, mean and rstd
  Result<void> copy_x_into_y();   // what an in-place launch starts from

  // Runs the checker over `rows` rows of the outputs and takes its records together.
  Result<CheckRecord> check(Kernel& checker, std::int64_t rows, const Tolerance& tolerance) const;

  // The name of the first buffer whose guards are damaged, or whose inputs changed; empty if none.
  Result<std::string> damaged_guard() const;
  Result<std::string> changed_input() const;
  // Inputs and guards as they were, so that what one candidate spoilt is not laid at another's
  // door.
  Result<void> restore();

  // Keeps y, mean and rstd as an out-of-place launch left them; only `kinds` has the room.
  Result<void> keep_outputs();
  // The first byte of the outputs of the first `rows` rows that is not as kept: of y, without the
  // gaps of strided rows, then of mean, then of rstd. `in_place` reads y at x's stride.
  Result<std::optional<std::int64_t>> change_of_outputs(std::int64_t rows, bool in_place) const;
  // Whether the gaps between strided rows of y still hold poison.
  Result<bool> gaps_untouched(std::int64_t rows) const;

  const void* x_address() const { return x_->address(); }

 private:
  Workload(Device& device, ByteComparer& comparer, const Problem& problem);
  Result<void> allocate(std::uint64_t seed);
  Result<void> allocate_kept();

  Device* device_;
  ByteComparer* comparer_;
  Problem problem_;
  BufferSpans spans_;
  std::optional<GuardedInput> x_, gamma_, beta_;
  std::optional<GuardedMemory> y_, mean_, rstd_;
  std::unique_ptr<Memory> records_;
  std::unique_ptr<Memory> kept_y_, kept_mean_, kept_rstd_;
  std::vector<RowKind> kinds_;  // of all layings; empty for `sized`
  std::uint64_t kinds_seed_ = 0;
  int laid_ = 0;
};

// Bytes of device memory that a workload takes, for deciding before allocating.
double workload_bytes(const Problem& problem);

}  // namespace normd
