// Tensors of more than 2^31 and 2^32 elements: no index, byte offset, stride or grid may be cut to
// 32 bits. The exact candidates that the cost model puts first, one with the most blocks, and the
// fallback; rows at the begin, at the end, in the middle and around every power of two that an
// index could be cut to are compared with the float64 reference on the host. For a GPU; a case that
// the GPU has no memory for is left out and says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/arguments.h"
#include "kernels/catalog.h"
#include "kernels/source.h"
#include "kernels/tolerance.h"
#include "tests/tuner/worker/on_device.h"
#include "tuner/compiler/compiler.h"
#include "tuner/compiler/prebuilt.h"
#include "tuner/worker/input_data.h"

namespace normd {
namespace {

constexpr float epsilon = 1e-5f;

struct Case {
  DType dtype;
  std::int64_t columns;
  int elements_log2;  // one row more than so many elements
};

// x filled with one tile of random numbers over and over, as long as a prime, so that no cut index
// finds the right numbers; y, mean and rstd.
class LargeTensors : public OnDevice, public testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OnDevice::SetUp());
    const auto& [dtype, columns, elements_log2] = GetParam();
    problem_ = {.rows = (std::int64_t{1} << elements_log2) / columns + 2,
                .columns = columns,
                .x = dtype,
                .y = dtype,
                .gamma = DType::fp32,
                .beta = DType::fp32,
                .stats = Stats::mean_rstd};
    gamma_bytes_ = make_gamma(DType::fp32, columns, 1);
    beta_bytes_ = make_beta(DType::fp32, columns, 1);
    tile_ = make_normal(dtype, tile_elements, 5);
    const std::size_t x_bytes = elements() * size_bytes(dtype);
    const std::size_t rows_bytes = static_cast<std::size_t>(problem_.rows) * sizeof(float);
    const bool there = make(x_, x_bytes) && make(y_, x_bytes) && make(mean_, rows_bytes) &&
                       make(rstd_, rows_bytes) && make(gamma_, gamma_bytes_.size()) &&
                       make(beta_, beta_bytes_.size());
    if (!there) {
      GTEST_SKIP() << "this GPU has no " << (2 * x_bytes >> 30) << " GiB of free memory for "
                   << to_text(problem_);
    }
    ASSERT_TRUE(device_->copy_in(gamma_->address(), gamma_bytes_.data(), gamma_bytes_.size()));
    ASSERT_TRUE(device_->copy_in(beta_->address(), beta_bytes_.data(), beta_bytes_.size()));
    fill_x();
  }

  std::size_t elements() const {
    return static_cast<std::size_t>(problem_.rows * problem_.columns);
  }

  bool make(std::unique_ptr<Memory>& to, std::size_t bytes) {
    auto memory = device_->allocate(bytes);
    if (!memory) {
      EXPECT_EQ(memory.error().code, ErrorCode::resource_exhausted) << memory.error().message;
      return false;
    }
    to = *std::move(memory);
    return true;
  }

  void fill_x() {
    auto* x = static_cast<char*>(x_->address());
    std::size_t done = std::min(tile_.size(), x_->bytes());
    ASSERT_TRUE(device_->copy_in(x, tile_.data(), done));
    while (done < x_->bytes()) {
      // Whole tiles as long as there are any, so that each begins where the one before ends.
      const std::size_t more = std::min(done, x_->bytes() - done);
      ASSERT_TRUE(device_->copy_within(x + done, x, more));
      done += more;
    }
  }

  // Rows whose answer is looked at: three around each place.
  std::set<std::int64_t> rows_looked_at() const {
    std::set<std::int64_t> rows;
    const auto around = [&](std::int64_t row) {
      for (std::int64_t r = row - 1; r <= row + 1; ++r) {
        if (r >= 0 && r < problem_.rows) rows.insert(r);
      }
    };
    around(0);
    around(problem_.rows - 1);
    for (int part = 1; part < 8; ++part) around(problem_.rows * part / 8);
    for (int log2 = 29; log2 <= 33; ++log2) {  // elements, and bytes of either type
      around((std::int64_t{1} << log2) / problem_.columns);
    }
    return rows;
  }

  std::vector<char> x_row(std::int64_t row) const {
    const std::size_t size = size_bytes(problem_.x);
    std::vector<char> bytes(static_cast<std::size_t>(problem_.columns) * size);
    std::size_t at = static_cast<std::size_t>(row) * bytes.size() % tile_.size();
    for (char& byte : bytes) {
      byte = tile_[at];
      at = at + 1 == tile_.size() ? 0 : at + 1;
    }
    return bytes;
  }

  void expect_row(std::int64_t row, const std::string& what) {
    const std::vector<char> x = x_row(row);
    std::vector<char> y(x.size());
    float mean = 0;
    float rstd = 0;
    const auto r = static_cast<std::size_t>(row);
    ASSERT_TRUE(
        device_->copy_out(y.data(), static_cast<char*>(y_->address()) + r * y.size(), y.size()));
    ASSERT_TRUE(device_->copy_out(&mean, static_cast<float*>(mean_->address()) + row, 4));
    ASSERT_TRUE(device_->copy_out(&rstd, static_cast<float*>(rstd_->address()) + row, 4));
    Problem one = problem_;
    one.rows = 1;
    const HostTensors tensors{.x = x.data(),
                              .gamma = gamma_bytes_.data(),
                              .beta = beta_bytes_.data(),
                              .x_row_stride = one.columns,
                              .epsilon = epsilon};
    const HostOutputs outputs{
        .y = y.data(), .mean = &mean, .rstd = &rstd, .y_row_stride = one.columns};
    // One row has few values: the bound of each, not of the whole.
    const Comparison found = compare(one, tensors, outputs, {}, 0, 1);
    EXPECT_LE(found.error_over_bound, 1) << what << ", row " << row << ": " << found.failure;
  }

  void run(const Binary& binary, const Launch& launch, const std::string& what) {
    auto kernel = device_->load(binary, launch);
    ASSERT_TRUE(kernel) << what << ": " << kernel.error().message;
    for (const auto* output : {&y_, &mean_, &rstd_}) {
      ASSERT_TRUE(device_->fill((*output)->address(), 0xff, (*output)->bytes()));
    }
    std::unique_ptr<Memory> workspace;
    if (const std::size_t bytes = workspace_bytes(launch, problem_.rows); bytes > 0) {
      ASSERT_TRUE(make(workspace, bytes)) << what;
      ASSERT_TRUE(device_->fill(workspace->address(), 0, bytes));
    }
    const NormArguments arguments{.x = x_->address(),
                                  .gamma = gamma_->address(),
                                  .beta = beta_->address(),
                                  .y = y_->address(),
                                  .rows = problem_.rows,
                                  .epsilon = epsilon,
                                  .flags = dtype_flags(problem_),
                                  .mean = static_cast<float*>(mean_->address()),
                                  .rstd = static_cast<float*>(rstd_->address()),
                                  .workspace = workspace ? workspace->address() : nullptr,
                                  .columns = problem_.columns,
                                  .x_row_stride = problem_.columns,
                                  .y_row_stride = problem_.columns};
    ASSERT_TRUE(device_->launch({kernel->get(), bytes_of(arguments), problem_.rows}));
    const auto done = device_->synchronize();
    ASSERT_TRUE(done) << what << ": " << done.error().message;
    for (const std::int64_t row : rows_looked_at()) {
      expect_row(row, what);
      if (HasFailure()) return;  // one is enough to look at
    }
  }

  Problem problem_;
  std::vector<char> tile_, gamma_bytes_, beta_bytes_;
  std::unique_ptr<Memory> x_, y_, mean_, rstd_, gamma_, beta_;
};

// Of each exact template the first in the order, and the one with the most blocks.
std::vector<Candidate> candidates_for(const Problem& problem) {
  std::vector<Candidate> chosen;
  std::set<std::string> seen;
  for (const Candidate& candidate : ranked_candidates(problem, test_device_spec())) {
    if (seen.insert(candidate.template_name).second) chosen.push_back(candidate);
  }
  for (const std::string& name : seen) {
    const auto all = enumerate(*find_template(name), problem, test_device_spec());
    const Candidate& most =
        *std::max_element(all.begin(), all.end(), [&](const Candidate& a, const Candidate& b) {
          const auto blocks = [&](const Candidate& candidate) {
            return grid_blocks(launch_of(candidate, problem, test_device_spec()), problem.rows);
          };
          return blocks(a) < blocks(b);
        });
    if (std::find(chosen.begin(), chosen.end(), most) == chosen.end()) chosen.push_back(most);
  }
  return chosen;
}

TEST_P(LargeTensors, no_index_is_cut) {
  for (const Candidate& candidate : candidates_for(problem_)) {
    const std::string what = to_text(candidate) + " for " + to_text(problem_);
    std::printf("%s\n", what.c_str());
    const auto binary = compile(render(candidate, problem_, test_device_spec()));
    ASSERT_TRUE(binary) << what << ": " << binary.error().message;
    run(*binary, launch_of(candidate, problem_, test_device_spec()), what);
  }
  const auto fallback = prebuilt_binary(Prebuilt::any_columns, device_->spec());
  ASSERT_TRUE(fallback) << fallback.error().message;
  run(*fallback, any_columns_launch(), "any_columns for " + to_text(problem_));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    for (const std::int64_t columns : {5, 64, 4095, 4096, 65536}) {
      for (const int elements_log2 : {31, 32}) cases.push_back({dtype, columns, elements_log2});
    }
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(dtype_name(info.param.dtype)) + "_" + std::to_string(info.param.columns) +
         "_columns_2_to_the_" + std::to_string(info.param.elements_log2);
}

INSTANTIATE_TEST_SUITE_P(sizes, LargeTensors, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace normd
