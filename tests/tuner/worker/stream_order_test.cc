// Launches one behind the other, without waiting in between, where each reads what the one ahead of
// it wrote: a programmatic launch may begin before that has ended, and must wait for it. Built
// twice: for the host device, and for the first GPU.
#include <cmath>
#include <cstring>

#include "kernels/arguments.h"
#include "tests/kernels/template_names.h"
#include "tests/tuner/worker/mutants.h"
#include "tests/tuner/worker/on_device.h"
#include "tuner/compiler/compiler.h"

namespace normd {
namespace {

constexpr int launches = test_device == "host" ? 6 : 60;

// Few rows, so that a launch takes no longer than the way to it, and what comes too early finds
// nothing yet.
Problem problem_of_rows(std::int64_t rows, std::int64_t columns = 1024) {
  return {.rows = rows, .columns = columns, .gamma = DType::fp32, .beta = DType::fp32};
}

// A width that the template is for.
Problem problem_for(const Template& entry, std::int64_t rows) {
  for (const std::int64_t columns : {1024, 1001, 7, 131072}) {
    const Problem problem = problem_of_rows(rows, columns);
    if (!enumerate(entry, problem, test_device_spec()).empty()) return problem;
  }
  return problem_of_rows(rows);
}

class StreamOrder : public OnDevice {
 protected:
  // A ring that is never closed: launch i reads buffer i and writes i + 1. What is not yet written
  // is a NaN, and makes every later one a NaN.
  std::vector<float> end_of_chain(const Problem& problem, const Binary& binary,
                                  const Launch& launch) {
    auto kernel = device_->load(binary, launch);
    EXPECT_TRUE(kernel) << kernel.error().message;
    if (!kernel) return {};
    const std::size_t elements = static_cast<std::size_t>(problem.rows * problem.columns);
    const std::size_t bytes = 4 * elements;
    const std::size_t step = (bytes + 255) / 256 * 256;  // every tensor is aligned
    const auto chain = memory((launches + 1) * step, 0xff);
    const auto parameters = memory(4 * static_cast<std::size_t>(problem.columns), 0x3f);
    const auto workspace = memory(1 + workspace_bytes(launch, problem.rows), 0);
    std::vector<float> x(elements);
    for (std::size_t i = 0; i < elements; ++i) x[i] = static_cast<float>(i * 2654435761u % 1000);
    auto* const first = static_cast<char*>(chain->address());
    EXPECT_TRUE(device_->copy_in(first, x.data(), bytes));
    std::vector<NormArguments> arguments(launches);
    std::vector<Call> calls;
    for (int i = 0; i < launches; ++i) {
      NormArguments& one = arguments[static_cast<std::size_t>(i)];
      one.x = first + static_cast<std::size_t>(i) * step;
      one.y = first + static_cast<std::size_t>(i + 1) * step;
      one.gamma = parameters->address();
      one.beta = parameters->address();
      one.workspace = workspace->address();
      one.rows = problem.rows;
      one.columns = problem.columns;
      one.x_row_stride = one.y_row_stride = problem.columns;
      one.epsilon = 1e-5f;
      calls.emplace_back(KernelCall{kernel->get(), bytes_of(one), problem.rows});
    }
    // Recorded, or the launches would come too slowly to meet.
    auto sequence = device_->record(calls);
    EXPECT_TRUE(sequence) << sequence.error().message;
    if (!sequence) return {};
    EXPECT_TRUE(device_->replay_ns(**sequence));
    EXPECT_TRUE(device_->copy_out(x.data(), first + launches * step, bytes));
    return x;
  }

  std::unique_ptr<Memory> memory(std::size_t bytes, unsigned char byte) {
    auto memory = device_->allocate(bytes);
    EXPECT_TRUE(memory) << memory.error().message;
    EXPECT_TRUE(device_->fill((*memory)->address(), byte, bytes));
    return std::move(*memory);
  }

  static int not_numbers(const std::vector<float>& values) {
    int count = 0;
    for (const float value : values) count += std::isnan(value) ? 1 : 0;
    return count;
  }
};

class EveryTemplateInOrder : public StreamOrder, public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(templates, EveryTemplateInOrder, testing::ValuesIn(exact_template_names()),
                         [](const auto& name) { return name.param; });

TEST_P(EveryTemplateInOrder, reads_what_the_launch_ahead_wrote) {
  // Grids that let the next one begin at once, and others.
  for (const std::int64_t rows : {3, test_device == "host" ? 20 : 700}) {
    const Template& entry = *find_template(GetParam());
    const Problem problem = problem_for(entry, rows);
    const auto candidates = enumerate(entry, problem, test_device_spec());
    if (candidates.empty()) GTEST_SKIP() << "none fits this device";
    const Candidate& candidate = candidates[candidates.size() / 2];
    const auto binary = compile(render(candidate, problem, test_device_spec()));
    ASSERT_TRUE(binary) << binary.error().message;
    const Launch launch = launch_of(candidate, problem, test_device_spec());
    const auto values = end_of_chain(problem, *binary, launch);
    EXPECT_EQ(not_numbers(values), 0) << to_text(candidate) << " for " << rows << " rows";
    Launch one_by_one = launch;
    one_by_one.programmatic = false;
    EXPECT_EQ(values, end_of_chain(problem, *binary, one_by_one)) << to_text(candidate);
  }
}

TEST_F(StreamOrder, a_kernel_that_does_not_wait_comes_too_early) {
  if (test_device_spec().capability < 90) GTEST_SKIP() << "this device has no such launches";
  const Problem problem = problem_of_rows(3);
  const Candidate candidate = candidate_of(problem, 1);
  const auto binary = compile(
      mutant(problem, candidate, {{"asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");", ""}}));
  ASSERT_TRUE(binary) << binary.error().message;
  const Launch launch = launch_of(candidate, problem, test_device_spec());
  ASSERT_TRUE(launch.programmatic);
  EXPECT_GT(not_numbers(end_of_chain(problem, *binary, launch)), 0);
}

}  // namespace
}  // namespace normd
