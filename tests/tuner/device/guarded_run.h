// One launch of a LayerNorm kernel with everything around it watched: inputs whose rows are of
// different kinds, buffers that are aligned to exactly what the problem says and no better, guard
// bytes around each, outputs that begin as poison. For test programs only; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/tolerance.h"
#include "tests/tuner/device/guarded_buffer.h"
#include "tuner/device/device.h"

namespace normd {

// How many times the problem's alignment each tensor begins further on than it must.
struct Begins {
  int x = 0;
  int gamma = 0;
  int beta = 0;
  int y = 0;
};

// Host arrays of one problem. x and y may be strided.
struct NormInputs {
  Problem problem;
  float epsilon = 1e-5f;
  std::int64_t x_row_stride = 0;
  std::int64_t y_row_stride = 0;
  std::vector<char> x;
  std::vector<char> gamma;
  std::vector<char> beta;
  Begins begins = {};

  HostTensors tensors() const;
};

// Row r is of kind (seed + r) modulo the number of kinds: normal, a mean large against the spread,
// equal values, first elements far from all others, NaN, infinity, tiny, huge (grade exact only).
NormInputs make_inputs(const Problem& problem, Grade grade, std::uint32_t seed);

// Exactly these values; gamma and beta where the problem has them. Rows are `stride` apart in x.
NormInputs inputs_of(const Problem& problem, const std::vector<double>& x,
                     const std::vector<double>& gamma, const std::vector<double>& beta,
                     std::int64_t x_row_stride, std::int64_t y_row_stride);

struct NormOutputs {
  std::vector<char> y;
  std::vector<float> mean;  // empty if unwanted
  std::vector<float> rstd;
  std::int64_t y_row_stride = 0;
  std::string damage;  // which guard, gap or input was changed; empty if none

  HostOutputs tensors() const;
  // The y of one row as bytes.
  std::string row_bytes(const Problem& problem, std::int64_t row) const;
  // Everything a kernel may write: y row by row without gaps, mean, rstd.
  std::string all_bytes(const Problem& problem) const;
};

enum class Place { apart, in_place };

// Launches over all rows of the inputs. The poison is a number that no answer holds. The workspace
// is a new one unless one is given.
Result<NormOutputs> run_guarded(Device& device, Kernel& kernel, const NormInputs& inputs,
                                Place place, Guards guards = Guards::bytes,
                                void* workspace = nullptr);

}  // namespace normd
