// Workload: a problem with seeded inputs and guarded outputs in device memory, of two kinds:
// `kinds`, where neighbouring rows hold different sorts of data, for the gate; and `sized`, normal
// data at the rows that are measured. The expected answer is the checker's (check_rows) on the
// untouched x. Belongs to its Device's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/check_arguments.h"
#include "kernels/tolerance.h"
#include "tuner/worker/guarded_memory.h"
#include "tuner/worker/row_span.h"

namespace normd {

inline constexpr unsigned char poison_byte = 0xff;  // a NaN in every dtype
inline constexpr float workload_epsilon = 1e-5f;

class Workload {
 public:
  // `problem.rows` is the most rows that will be launched.
  static Result<Workload> kinds(Device& device, const Problem& problem, Grade grade,
                                std::uint64_t seed);
  static Result<Workload> sized(Device& device, const Problem& problem, std::uint64_t seed);

  const Problem& problem() const { return problem_; }
  bool can_run_in_place() const { return problem_.x == problem_.y; }

  NormArguments arguments(std::int64_t rows) const;           // x to y
  NormArguments in_place_arguments(std::int64_t rows) const;  // within y's buffer

  Result<void> poison_outputs();  // every byte of y, mean and rstd
  Result<void> copy_x_into_y();   // what an in-place launch starts from

  // Runs the checker over `rows` rows of the outputs and takes its records together.
  Result<CheckRecord> check(Kernel& checker, std::int64_t rows, const Tolerance& tolerance) const;

  // The name of the first buffer whose guards are damaged, or whose inputs changed; empty if none.
  Result<std::string> damaged_guard();
  Result<std::string> changed_input() const;  // only for `kinds`, which keeps a copy

  // y, mean and rstd of the first `rows` rows as bytes: y row by row without the gaps of strided
  // rows. `in_place` reads y at x's stride.
  Result<std::vector<char>> outputs(std::int64_t rows, bool in_place) const;
  // Whether the gaps between strided rows of y still hold poison.
  Result<bool> gaps_untouched(std::int64_t rows) const;

  const void* x_address() const { return x_->address(); }

 private:
  Workload(Device& device, const Problem& problem);
  Result<void> allocate(std::uint64_t seed);
  Result<void> tile_x(const std::vector<char>& block);
  Result<std::vector<char>> y_bytes(std::int64_t rows, const RowSpan& span) const;

  Device* device_;
  Problem problem_;
  BufferSpans spans_;
  std::optional<GuardedMemory> x_, gamma_, beta_, y_, mean_, rstd_;
  std::unique_ptr<Memory> records_;
  std::vector<char> x_block_, gamma_host_, beta_host_;  // what the inputs must still hold
};

// Bytes of device memory that a workload takes, for deciding before allocating.
double workload_bytes(const Problem& problem);

}  // namespace normd
