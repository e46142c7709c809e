#include "tests/tuner/device/guarded_run.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "kernels/check.h"
#include "tests/tuner/device/guarded_buffer.h"

namespace normd {
namespace {

enum class Kind {
  normal,
  mean_1e3,
  mean_1e5,
  near_1000,
  constant,
  zero,
  far_first,
  with_nan,
  with_inf,
  tiny,
  huge
};

double value_of(Kind kind, DType dtype, double normal) {
  const bool fp32 = dtype == DType::fp32;
  switch (kind) {
    case Kind::mean_1e3:
      return (fp32 ? 1e3 : 1e2) + normal;
    case Kind::mean_1e5:
      return fp32 ? 1e5 + normal : 10 + normal;
    case Kind::near_1000:
      return 1000 + (fp32 ? 0.1 : 8.0) * normal;
    case Kind::constant:
      return 0.1;
    case Kind::zero:
      return 0.0;
    case Kind::tiny:
      return (dtype == DType::fp16 ? 1e-6 : 1e-25) * normal;
    case Kind::huge:
      return (dtype == DType::fp16 ? 2e4 : 1e30) * normal;
    default:
      return normal;
  }
}

std::vector<char> random_vector(DType dtype, std::int64_t count, double mean,
                                std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<char> array(static_cast<std::size_t>(count) * size_bytes(dtype));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    store_element(dtype, array.data(), i, mean + 0.2 * normal(random));
  }
  return array;
}

// Elements from one row to the next: the width where rows are contiguous; where they are strided, a
// little more, such that row starts have the problem's alignment and no better.
std::int64_t row_stride(const Problem& problem, DType dtype) {
  if (problem.rows_layout == RowsLayout::contiguous) return problem.columns;
  const auto step =
      std::max<std::int64_t>(1, problem.align_bytes / static_cast<std::int64_t>(size_bytes(dtype)));
  const std::int64_t steps = problem.columns / step + 1;
  return (steps % 2 == 0 ? steps + 1 : steps) * step;
}

std::size_t strided_bytes(const Problem& problem, DType dtype, std::int64_t stride) {
  if (problem.rows == 0) return 0;
  return static_cast<std::size_t>((problem.rows - 1) * stride + problem.columns) *
         size_bytes(dtype);
}

constexpr int poison = 0x5a;  // 203 in fp16, 1.5e16 in fp32 and bf16

bool gaps_hold_poison(const std::vector<char>& y, const Problem& problem, std::int64_t stride) {
  const std::size_t size = size_bytes(problem.y);
  for (std::int64_t row = 0; row + 1 < problem.rows; ++row) {
    const auto from = static_cast<std::size_t>(row * stride + problem.columns) * size;
    const auto to = static_cast<std::size_t>((row + 1) * stride) * size;
    for (std::size_t i = from; i < to; ++i) {
      if (y[i] != poison) return false;
    }
  }
  return true;
}

template <typename Bytes>
const void* address_or_null(const Bytes& bytes) {
  return bytes.empty() ? nullptr : bytes.data();
}

// All buffers of one launch, filled for it.
struct Buffers {
  Buffers(Device& device, const NormInputs& inputs, Place place, Guards guards)
      : Buffers(device, inputs, inputs.problem, place == Place::apart, guards) {
    x.write(inputs.x);
    gamma.write(inputs.gamma);
    beta.write(inputs.beta);
    for (GuardedBuffer* output : {&y, &mean, &rstd}) output->fill(poison);
  }

  NormArguments arguments(const NormInputs& inputs, std::int64_t y_row_stride) const {
    return {.x = x.address(),
            .gamma = gamma.address(),
            .beta = beta.address(),
            .y = y.address() != nullptr ? y.address() : x.address(),
            .rows = inputs.problem.rows,
            .epsilon = inputs.epsilon,
            .flags = dtype_flags(inputs.problem),
            .mean = static_cast<float*>(mean.address()),
            .rstd = static_cast<float*>(rstd.address()),
            .workspace = nullptr,
            .columns = inputs.problem.columns,
            .x_row_stride = inputs.x_row_stride,
            .y_row_stride = y_row_stride};
  }

  // Which guard or input was changed.
  std::string damage(const NormInputs& inputs, Place place) {
    std::string found;
    for (GuardedBuffer* buffer : {&x, &gamma, &beta, &y, &mean, &rstd}) {
      if (!buffer->guards_intact()) found += "guards of " + buffer->name() + "; ";
    }
    if (place == Place::apart && x.read() != inputs.x) found += "x; ";
    if (gamma.read() != inputs.gamma) found += "gamma; ";
    if (beta.read() != inputs.beta) found += "beta; ";
    return found;
  }

  GuardedBuffer x, gamma, beta, y, mean, rstd;

 private:
  Buffers(Device& device, const NormInputs& inputs, const Problem& problem, bool apart,
          Guards guards)
      : x(device, "x", inputs.x.size(), {begin_of(problem, problem.x, inputs.begins.x), guards}),
        gamma(device, "gamma", inputs.gamma.size(),
              {begin_of(problem, problem.gamma, inputs.begins.gamma), guards}),
        beta(device, "beta", inputs.beta.size(),
             {begin_of(problem, problem.beta, inputs.begins.beta), guards}),
        y(device, "y", apart ? strided_bytes(problem, problem.y, inputs.y_row_stride) : 0,
          {begin_of(problem, problem.y, inputs.begins.y), guards}),
        mean(device, "mean", wants_mean(problem.stats) ? row_floats(problem) : 0,
             {sizeof(float), guards}),
        rstd(device, "rstd", wants_rstd(problem.stats) ? row_floats(problem) : 0,
             {sizeof(float), guards}) {}

  // What the problem promises of each address, and no tensor less than its own element; the
  // further on a tensor begins, by whole steps of that.
  static std::size_t begin_of(const Problem& problem, const std::optional<DType>& dtype,
                              int further) {
    const auto align = std::max<std::size_t>(static_cast<std::size_t>(problem.align_bytes),
                                             size_bytes(dtype.value_or(DType::fp32)));
    return align * static_cast<std::size_t>(1 + further);
  }
  static std::size_t row_floats(const Problem& problem) {
    return static_cast<std::size_t>(problem.rows) * sizeof(float);
  }
};

}  // namespace

HostTensors NormInputs::tensors() const {
  return {.x = x.data(),
          .gamma = address_or_null(gamma),
          .beta = address_or_null(beta),
          .x_row_stride = x_row_stride,
          .epsilon = epsilon};
}

NormInputs make_inputs(const Problem& problem, Grade grade, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  NormInputs inputs{.problem = problem,
                    .x_row_stride = row_stride(problem, problem.x),
                    .y_row_stride = row_stride(problem, problem.y),
                    .x = {},
                    .gamma = {},
                    .beta = {}};
  inputs.x.assign(strided_bytes(problem, problem.x, inputs.x_row_stride), 0x7f);
  const auto kinds = static_cast<std::int64_t>(grade == Grade::exact ? Kind::huge : Kind::tiny) + 1;
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    const auto kind = static_cast<Kind>((static_cast<std::int64_t>(seed) + row) % kinds);
    const auto at = static_cast<std::size_t>(row * inputs.x_row_stride);
    for (std::size_t i = 0; i < static_cast<std::size_t>(problem.columns); ++i) {
      store_element(problem.x, inputs.x.data(), at + i, value_of(kind, problem.x, normal(random)));
    }
    // The first three lie far from the rest, and from the mean.
    for (std::size_t i = 0; kind == Kind::far_first && i < 3; ++i) {
      if (i < static_cast<std::size_t>(problem.columns)) {
        store_element(problem.x, inputs.x.data(), at + i, 1000 + normal(random));
      }
    }
    const auto odd_one = at + random() % static_cast<std::size_t>(problem.columns);
    if (kind == Kind::with_nan) {
      store_element(problem.x, inputs.x.data(), odd_one, std::numeric_limits<double>::quiet_NaN());
    }
    if (kind == Kind::with_inf) {
      store_element(problem.x, inputs.x.data(), odd_one, std::numeric_limits<double>::infinity());
    }
  }
  if (problem.gamma) inputs.gamma = random_vector(*problem.gamma, problem.columns, 1, random);
  if (problem.beta) inputs.beta = random_vector(*problem.beta, problem.columns, 0, random);
  return inputs;
}

NormInputs inputs_of(const Problem& problem, const std::vector<double>& x,
                     const std::vector<double>& gamma, const std::vector<double>& beta,
                     std::int64_t x_row_stride, std::int64_t y_row_stride) {
  const auto stored = [](DType dtype, const std::vector<double>& values) {
    std::vector<char> array(values.size() * size_bytes(dtype));
    for (std::size_t i = 0; i < values.size(); ++i) {
      store_element(dtype, array.data(), i, values[i]);
    }
    return array;
  };
  NormInputs inputs{.problem = problem,
                    .x_row_stride = x_row_stride,
                    .y_row_stride = y_row_stride,
                    .x = {},
                    .gamma = {},
                    .beta = {}};
  inputs.x.assign(strided_bytes(problem, problem.x, x_row_stride), 0x7f);
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      store_element(problem.x, inputs.x.data(), static_cast<std::size_t>(row * x_row_stride + i),
                    x[static_cast<std::size_t>(row * problem.columns + i)]);
    }
  }
  if (problem.gamma) inputs.gamma = stored(*problem.gamma, gamma);
  if (problem.beta) inputs.beta = stored(*problem.beta, beta);
  return inputs;
}

HostOutputs NormOutputs::tensors() const {
  return {.y = y.data(),
          .mean = mean.empty() ? nullptr : mean.data(),
          .rstd = rstd.empty() ? nullptr : rstd.data(),
          .y_row_stride = y_row_stride};
}

std::string NormOutputs::row_bytes(const Problem& problem, std::int64_t row) const {
  const std::size_t size = size_bytes(problem.y);
  return {y.data() + static_cast<std::size_t>(row * y_row_stride) * size,
          static_cast<std::size_t>(problem.columns) * size};
}

std::string NormOutputs::all_bytes(const Problem& problem) const {
  std::string bytes;
  for (std::int64_t row = 0; row < problem.rows; ++row) bytes += row_bytes(problem, row);
  for (const auto* values : {&mean, &rstd}) {
    bytes.append(reinterpret_cast<const char*>(values->data()), values->size() * sizeof(float));
  }
  return bytes;
}

Result<NormOutputs> run_guarded(Device& device, Kernel& kernel, const NormInputs& inputs,
                                Place place, Guards guards, void* workspace) {
  const Problem& problem = inputs.problem;
  NORMD_CHECK(place == Place::apart || problem.x == problem.y);
  const std::int64_t y_row_stride =
      place == Place::apart ? inputs.y_row_stride : inputs.x_row_stride;
  Buffers buffers(device, inputs, place, guards);
  GuardedBuffer own(device, "workspace",
                    workspace != nullptr ? 0 : workspace_bytes(kernel.launch(), problem.rows),
                    {workspace_align_bytes, guards});
  own.fill(0);
  NormArguments arguments = buffers.arguments(inputs, y_row_stride);
  arguments.workspace = workspace != nullptr ? workspace : own.address();
  if (auto done = device.launch({&kernel, bytes_of(arguments), problem.rows}); !done) {
    return fail(std::move(done.error()));
  }
  if (auto done = device.synchronize(); !done) return fail(std::move(done.error()));
  NormOutputs outputs{.y = place == Place::apart ? buffers.y.read() : buffers.x.read(),
                      .mean = buffers.mean.read_floats(),
                      .rstd = buffers.rstd.read_floats(),
                      .y_row_stride = y_row_stride,
                      .damage = buffers.damage(inputs, place)};
  if (place == Place::apart && !gaps_hold_poison(outputs.y, problem, y_row_stride)) {
    outputs.damage += "gaps of y; ";
  }
  if (!own.guards_intact()) outputs.damage += "guards of the workspace; ";
  return outputs;
}

}  // namespace normd
