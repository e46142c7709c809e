// A row's answer is its own, bit for bit, whoever its neighbours are: rows that need a second pass
// beside rows that do not, in one warp or block, by every exact template on the host device.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/source.h"
#include "tests/kernels/template_names.h"
#include "tests/tuner/device/host_bench.h"
#include "tuner/compiler/host_compiler.h"

namespace normd {
namespace {

constexpr std::int64_t rows_tried = 37;

enum class Far { none, some, all };

bool is_far(std::int64_t row, Far far) {
  return far == Far::all || (far == Far::some && row % 3 == 1);
}

// Of rows whose mean is zero: the signs of zeros in them, too, are to be as they are by themselves.
double balanced(std::int64_t row, std::int64_t column, std::int64_t columns) {
  const std::int64_t pairs = (columns - 2) / 2;  // of 1 and -1
  if (row % 2 == 0 || column >= 2 * pairs) return -0.0;
  return column % 2 == 0 ? 1 : -1;
}

// Normal rows with a mean of half their spread, the same ones each time, and some that are
// balanced; of some the mean is ten times that, more than a first pass bears.
NormInputs rows_of(const Problem& problem, Far far) {
  std::mt19937 random(20261130);
  std::normal_distribution<double> normal(0.5, 1);
  std::vector<double> x;
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      const double value = normal(random);
      x.push_back(is_far(row, far) ? value + 4.5
                  : row % 5 == 2   ? balanced(row, i, problem.columns)
                                   : value);
    }
  }
  return inputs_of(problem, x, {}, {}, problem.columns, problem.columns);
}

Problem problem_of(std::int64_t columns, DType dtype, bool shifted = false) {
  return {.rows = rows_tried,
          .columns = columns,
          .x = dtype,
          .y = dtype,
          .stats = Stats::mean_rstd,
          .align_bytes = shifted ? static_cast<int>(size_bytes(dtype)) : 16};
}

// One candidate for each way to lay rows out in warps and blocks.
std::vector<Candidate> candidates_of(const Template& entry, const Problem& problem,
                                     const DeviceSpec& spec) {
  std::vector<Candidate> chosen;
  std::set<std::vector<int>> seen;
  for (const Candidate& candidate : enumerate(entry, problem, spec)) {
    std::vector<int> layout;
    for (const auto& [name, value] : candidate.values) {
      if (name == "lanes_per_row" || name == "rows_per_group" || name == "rows_per_block" ||
          name == "groups" || name == "tickets") {
        layout.push_back(value);
      }
    }
    if (seen.insert(layout).second) chosen.push_back(candidate);
  }
  return chosen;
}

class RowNeighbours : public testing::TestWithParam<std::string> {
 protected:
  NormOutputs run(const HostBench::Kernels& kernels, const Problem& problem, Far far,
                  const std::string& what) {
    return bench_.run(kernels, rows_of(problem, far), Place::apart, what);
  }

  // How many rows have other bits among mixed neighbours than among their like.
  int rows_changed(const Candidate& candidate, const Problem& problem, const Source& source) {
    const std::string what = to_text(candidate) + " for " + to_text(problem);
    const auto binary = compile_with_host_compiler(source);
    EXPECT_TRUE(binary) << what << ": " << binary.error().message;
    if (!binary) return -1;
    const auto kernels =
        bench_.load(*binary, launch_of(candidate, problem, bench_.device().spec()));
    if (!kernels[0]) return -1;
    const NormOutputs near = run(kernels, problem, Far::none, what);
    const NormOutputs mixed = run(kernels, problem, Far::some, what);
    const NormOutputs far = run(kernels, problem, Far::all, what);
    int changed = 0;
    for (std::int64_t row = 0; row < problem.rows; ++row) {
      const NormOutputs& alike = is_far(row, Far::some) ? far : near;
      const auto at = static_cast<std::size_t>(row);
      changed += mixed.row_bytes(problem, row) != alike.row_bytes(problem, row) ||
                 mixed.mean[at] != alike.mean[at] || mixed.rstd[at] != alike.rstd[at];
    }
    return changed;
  }

  HostBench bench_{20261130};
};

struct Width {
  std::int64_t columns;
  bool shifted = false;  // tensors that begin on an element and no better
};

// Narrow rows that several lanes share, rows of a few elements, and rows for a block or more.
constexpr Width widths[] = {{24},   {25},    {40},         {96},        {1001},
                            {4096}, {20000}, {1001, true}, {1024, true}};

TEST_P(RowNeighbours, do_not_change_a_bit_of_it) {
  int tried = 0;
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const auto& [columns, shifted] : widths) {
      const Problem problem = problem_of(columns, dtype, shifted);
      for (const Candidate& candidate :
           candidates_of(*find_template(GetParam()), problem, bench_.device().spec())) {
        const Source source = render(candidate, problem, bench_.device().spec());
        EXPECT_EQ(rows_changed(candidate, problem, source), 0)
            << to_text(candidate) << " for " << to_text(problem);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(catalog, RowNeighbours, testing::ValuesIn(exact_template_names()),
                         [](const auto& name) { return name.param; });

class WrongNeighbours : public RowNeighbours {};

// That the test above would see it: here a warp's rows all take what the second pass found, or only
// go the rare way with the others, which gives zeros other signs.
TEST_F(WrongNeighbours, are_found_out_where_one_row_takes_the_others_along) {
  const Problem problem = problem_of(96, DType::fp32);
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"if (first.plain) return first.row;", ""}, {"found = first.near ?", "found = false ?"}};
  for (const Candidate& candidate :
       candidates_of(*find_template("sub_warp"), problem, bench_.device().spec())) {
    if (candidate.value("lanes_per_row") == 32 && candidate.value("rows_per_group") == 1) continue;
    Source source = render(candidate, problem, bench_.device().spec());
    for (const auto& [keeps, instead] : changes) {
      const std::size_t at = source.text.find(keeps);
      ASSERT_NE(at, std::string::npos) << "mend this test";
      source.text.replace(at, keeps.size(), instead);
      EXPECT_GT(rows_changed(candidate, problem, source), 0)
          << to_text(candidate) << " without " << keeps;
    }
  }
}

}  // namespace
}  // namespace normd
