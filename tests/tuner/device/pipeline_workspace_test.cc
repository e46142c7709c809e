// What kernels whose blocks stay keep in a workspace, on the host device: one over many launches,
// more rows than turns; the exchange of grid_pipeline, with parts of two widths and a row that only
// the whole device holds, and the tickets of cluster_pipeline and phase_aligned.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/tuner/device/guarded_buffer.h"
#include "tests/tuner/device/host_bench.h"
#include "tuner/compiler/host_compiler.h"

namespace normd {
namespace {

// The host device's, but with this many multiprocessors to divide among rows.
DeviceSpec spec_of(int sm_count) {
  DeviceSpec spec = host_device_spec(architecture_preset("sm_90"));
  spec.sm_count = sm_count;
  return spec;
}

Candidate candidate_of(int blocks, int rows_per_block, int threads) {
  return {.template_name = "grid_pipeline",
          .values = {{"blocks_per_row", blocks},
                     {"rows_per_block", rows_per_block},
                     {"threads", threads},
                     {"vector_bytes", 16},
                     {"blocks_per_sm", 1},
                     {"x_evict_last", 0}}};
}

struct Change {
  std::string_view from;
  std::string_view to;
};

// One candidate on a device with its workspace.
class Bench {
 public:
  Bench(Problem problem, const Candidate& candidate, int sm_count, HostSchedule schedule,
        const std::vector<Change>& changes = {})
      : problem_(problem) {
    auto device = open_host_device("host:sm_90", schedule);
    NORMD_CHECK(device.has_value());
    device_ = std::move(*device);
    const DeviceSpec spec = spec_of(sm_count);
    Source source = render(candidate, problem, spec);
    for (const Change& change : changes) {
      const std::size_t at = source.text.find(change.from);
      EXPECT_NE(at, std::string::npos) << change.from;
      source.text.replace(at, change.from.size(), change.to);
    }
    const auto binary = compile_with_host_compiler(source);
    EXPECT_TRUE(binary) << binary.error().message;
    const Launch launch = launch_of(candidate, problem, spec);
    auto kernel = device_->load(*binary, launch);
    EXPECT_TRUE(kernel) << kernel.error().message;
    kernel_ = std::move(*kernel);
    workspace_ =
        std::make_unique<GuardedBuffer>(*device_, "workspace", workspace_bytes(launch, 1),
                                        GuardedBuffer::Setting{.begin = workspace_align_bytes});
    workspace_->fill(0);
  }

  GuardedBuffer& workspace() { return *workspace_; }
  const Launch& launch() const { return kernel_->launch(); }

  // What is wrong with the answer for so many rows; empty if nothing is.
  std::string fault_of(std::int64_t rows, std::uint32_t seed) {
    Problem problem = problem_;
    problem.rows = rows;
    const NormInputs inputs = make_inputs(problem, Grade::exact, seed);
    const auto outputs =
        run_guarded(*device_, *kernel_, inputs, Place::apart, Guards::bytes, workspace_->address());
    if (!outputs) return outputs.error().message;
    if (!outputs->damage.empty()) return outputs->damage;
    if (!workspace_->guards_intact()) return "guards of the workspace";
    return compare(problem, inputs.tensors(), outputs->tensors(), {}, 0, rows).failure;
  }

 private:
  Problem problem_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<GuardedBuffer> workspace_;
};

Problem problem_of(std::int64_t columns, DType dtype) {
  return {.columns = columns,
          .x = dtype,
          .y = dtype,
          .gamma = dtype,
          .beta = DType::fp32,
          .stats = Stats::mean_rstd};
}

constexpr HostSchedule schedules[] = {{.order = ScheduleOrder::ascending},
                                      {.order = ScheduleOrder::descending, .shared_fill = 0x3f},
                                      {.order = ScheduleOrder::shuffled, .seed = 20261130}};

// 1250 sectors among 7 blocks: three parts are a sector wider. Two rows at once in each block.
const Candidate uneven = candidate_of(7, 2, 2 * 64);
const Problem uneven_problem = problem_of(20000, DType::bf16);

TEST(GridPipelineTest, one_workspace_serves_launch_after_launch_whatever_their_rows) {
  for (const HostSchedule& schedule : schedules) {
    Bench bench(uneven_problem, uneven, 14, schedule);
    ASSERT_EQ(grid_blocks(bench.launch(), 23), 14);  // two rows' blocks, four rows at once
    std::uint32_t seed = 1;
    for (const std::int64_t rows : {1, 23, 2, 3, 9, 1, 5, 23}) {
      ASSERT_EQ(bench.fault_of(rows, seed++), "") << rows << " rows";
    }
  }
}

TEST(GridPipelineTest, turns_are_counted_beyond_32_bits) {
  Bench bench(uneven_problem, uneven, 7, schedules[2]);
  std::vector<char> bytes = bench.workspace().read();
  const std::size_t mailbox_bytes = bytes.size() / 2;
  const std::uint32_t turns = 0xfffffffd;
  for (std::size_t group = 0; group < 2; ++group) {
    std::memcpy(&bytes[group * mailbox_bytes + 2 * 7 * 16], &turns, sizeof turns);
  }
  bench.workspace().write(bytes);
  for (const std::int64_t rows : {4, 1, 5}) ASSERT_EQ(bench.fault_of(rows, 1), "") << rows;
  // Six turns of the first group: 2 + 1 + 3, from 2^32 - 3 on.
  std::uint32_t counted = 0;
  bytes = bench.workspace().read();
  std::memcpy(&counted, &bytes[2 * 7 * 16], sizeof counted);
  EXPECT_EQ(counted, 3u);
}

// What the counting and the two sides are for. A group of one warp has no barriers that would hold
// it back from being a turn ahead of the others.
TEST(GridPipelineTest, messages_of_an_earlier_launch_or_turn_would_be_found_out) {
  const auto fault = [](const Change& change) {
    for (const HostSchedule& schedule : schedules) {
      Bench bench(uneven_problem, candidate_of(7, 2, 2 * 32), 7, schedule, {change});
      for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        if (std::string found = bench.fault_of(6, seed); !found.empty()) return found;
      }
    }
    return std::string();
  };
  EXPECT_NE(fault({"turns_before + turn + 1u;", "turn + 1u;"}), "");
  EXPECT_NE(fault({"mailbox.side[tag & 1u]", "mailbox.side[0]"}), "");
  EXPECT_EQ(fault({"turns_before + turn + 1u;", "turns_before + 1u + turn;"}), "");
}

// Eight multiprocessors have four clusters of two blocks, each of which takes two rows at once.
const Candidate by_ticket{.template_name = "cluster_pipeline",
                          .values = {{"cluster", 2},
                                     {"rows_per_block", 2},
                                     {"threads", 2 * 64},
                                     {"vector_bytes", 16},
                                     {"blocks_per_sm", 1},
                                     {"tickets", 1},
                                     {"affine_held", 0},
                                     {"x_evict_last", 1}}};
const Problem ticket_problem = problem_of(4096, DType::bf16);

// Eight phases, each with one block of some groups for each eight multiprocessors.
Candidate phased(int groups, int threads) {
  return {.template_name = "phase_aligned",
          .values = {{"threads", threads},
                     {"vector_bytes", 16},
                     {"groups", groups},
                     {"blocks_per_sm", 1},
                     {"tickets", 1},
                     {"x_evict_last", 1}}};
}

void expect_every_row_taken(const Problem& problem, const Candidate& candidate, int sm_count) {
  for (const HostSchedule& schedule : schedules) {
    Bench bench(problem, candidate, sm_count, schedule);
    ASSERT_EQ(grid_blocks(bench.launch(), 100), sm_count);
    std::uint32_t seed = 1;
    for (const std::int64_t rows : {1, 100, 2, 7, 16, 17, 33, 100}) {
      ASSERT_EQ(bench.fault_of(rows, seed++), "") << rows << " rows of " << to_text(candidate);
      for (const char byte : bench.workspace().read()) ASSERT_EQ(byte, 0) << rows;
    }
  }
}

TEST(TicketsTest, every_row_is_taken_in_launch_after_launch_whatever_their_rows) {
  expect_every_row_taken(ticket_problem, by_ticket, 8);
  expect_every_row_taken(problem_of(1001, DType::bf16), phased(2, 128), 8);
  expect_every_row_taken(problem_of(1001, DType::bf16), phased(4, 128), 16);
  expect_every_row_taken(problem_of(4095, DType::bf16), phased(1, 256), 24);
}

TEST(TicketsTest, of_another_launch_would_leave_rows_out) {
  Bench bench(ticket_problem, by_ticket, 8, schedules[0], {{"leave_to_next(&counts, 0ull);", ""}});
  EXPECT_EQ(bench.fault_of(33, 1), "");
  EXPECT_NE(bench.fault_of(33, 2), "");
}

// A sector of the narrowest tensor where the width has whole ones, else sixteen bytes of it.
TEST(GridPipelineTest, parts_differ_by_a_unit_of_the_narrowest_tensor) {
  struct Widths {
    std::int64_t columns;
    DType x;
    std::optional<DType> gamma;
  };
  for (const auto& [columns, x, gamma] :
       {Widths{20000, DType::fp32, DType::bf16}, Widths{20008, DType::bf16, DType::fp32},
        Widths{20008, DType::fp32, DType::fp16}, Widths{20004, DType::fp32, DType::fp32},
        Widths{20000, DType::fp32, std::nullopt}}) {
    const Problem problem{.columns = columns,
                          .x = x,
                          .y = DType::bf16,
                          .gamma = gamma,
                          .beta = gamma,
                          .stats = Stats::mean_rstd};
    Bench bench(problem, candidate_of(7, 1, 96), 7, schedules[2]);
    EXPECT_EQ(bench.fault_of(5, 1), "") << to_text(problem);
  }
}

// The rows are of a kind each: normal, spread about large means, equal values.
TEST(GridPipelineTest, rows_of_a_million_columns_are_shared_by_33_blocks) {
  Problem problem = problem_of(std::int64_t{1} << 20, DType::bf16);
  problem.gamma.reset();
  Bench bench(problem, candidate_of(33, 1, 256), 33, schedules[0]);
  ASSERT_EQ(grid_blocks(bench.launch(), 5), 33);
  EXPECT_EQ(bench.fault_of(5, 0), "");
}

}  // namespace
}  // namespace normd
