// HostBench: the three host devices that every kernel is tried on, one per schedule, and the steps
// that every test of a kernel takes: load on all, run on all, the same bits from all, no damage.
// For test programs only; one thread.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "kernels/check.h"
#include "tests/kernels/known_answers.h"
#include "tests/tuner/device/guarded_run.h"
#include "tuner/device/host/host_device.h"

namespace normd {

class HostBench {
 public:
  explicit HostBench(std::uint32_t seed) {
    const std::array<HostSchedule, 3> schedules{
        HostSchedule{.order = ScheduleOrder::ascending},
        HostSchedule{.order = ScheduleOrder::descending, .shared_fill = 0x3f},
        HostSchedule{.order = ScheduleOrder::shuffled, .seed = seed}};
    for (std::size_t i = 0; i < schedules.size(); ++i) {
      auto device = open_host_device("host", schedules[i]);
      NORMD_CHECK(device.has_value());
      devices_[i] = std::move(*device);
    }
  }

  Device& device() { return *devices_[0]; }

  // One loaded kernel per device; empty, and a failed test, if one refuses it.
  using Kernels = std::array<std::unique_ptr<Kernel>, 3>;
  Kernels load(const Binary& binary, const Launch& launch) {
    Kernels kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto kernel = devices_[i]->load(binary, launch);
      if (!kernel) ADD_FAILURE() << kernel.error().message;
      if (!kernel) return {};
      kernels[i] = std::move(*kernel);
    }
    return kernels;
  }

  // Runs on all three; any difference or damage fails the test and is described after `what`.
  NormOutputs run(const Kernels& kernels, const NormInputs& inputs, Place place,
                  const std::string& what) {
    NormOutputs first;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto outputs = run_guarded(*devices_[i], *kernels[i], inputs, place);
      if (!outputs) ADD_FAILURE() << what << ": " << outputs.error().message;
      if (!outputs) return {};
      EXPECT_EQ(outputs->damage, "") << what;
      if (i == 0) first = std::move(*outputs);
      if (i == 0) continue;
      EXPECT_TRUE(outputs->all_bytes(inputs.problem) == first.all_bytes(inputs.problem))
          << what << ": schedule " << i << " gives other bits";
    }
    return first;
  }

  // The same, held to the reference, and in place as well as apart where the dtypes allow it.
  void run_and_compare(const Kernels& kernels, const NormInputs& inputs, const Tolerance& tolerance,
                       const std::string& what) {
    const Problem& problem = inputs.problem;
    const NormOutputs apart = run(kernels, inputs, Place::apart, what);
    if (apart.y.empty()) return;
    const Comparison found =
        compare(problem, inputs.tensors(), apart.tensors(), tolerance, 0, problem.rows);
    EXPECT_EQ(found.failure, "") << what;
    if (problem.x != problem.y) return;
    const NormOutputs in_place = run(kernels, inputs, Place::in_place, what + " in place");
    EXPECT_TRUE(in_place.all_bytes(problem) == apart.all_bytes(problem))
        << what << ": other bits in place";
  }

 private:
  std::array<std::unique_ptr<Device>, 3> devices_;
};

// What the reference knows of a row, and from it how far a taught template may stray.
inline double widening_of(const NormInputs& inputs, std::int64_t row, const Tolerance& tolerance) {
  ReferenceRow expected;
  reference_row(inputs.problem, inputs.tensors(), row, expected);
  return taught_widening(tolerance, expected.mean, expected.rstd);
}

inline void expect_known(const KnownAnswer& answer, const NormInputs& inputs,
                         const NormOutputs& outputs, const Tolerance& tolerance,
                         const std::string& what) {
  for (const KnownY& known : answer.y) {
    const auto at = static_cast<std::size_t>(known.row * outputs.y_row_stride + known.column);
    const double got = load_element(answer.problem.y, outputs.y.data(), at);
    const double widening = widening_of(inputs, known.row, tolerance);
    EXPECT_TRUE(tolerance.grade == Grade::exact ? is_known_y(answer, known, got)
                                                : is_near_known_y(answer, known, got, widening))
        << what << ": row " << known.row << " column " << known.column << " is " << got << ", not "
        << known.value;
  }
  if (tolerance.grade != Grade::exact) return;
  for (const KnownStatistics& known : answer.statistics) {
    const auto row = static_cast<std::size_t>(known.row);
    EXPECT_TRUE(are_known_statistics(known, static_cast<double>(outputs.mean[row]),
                                     static_cast<double>(outputs.rstd[row])))
        << what << ": mean " << outputs.mean[row] << " rstd " << outputs.rstd[row];
  }
}

}  // namespace normd
