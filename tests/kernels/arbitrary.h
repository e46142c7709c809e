// Generators of random words for property tests: valid problems, device limits, fingerprints,
// launches and candidates. Included by tests only.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/key.h"
#include "kernels/launch.h"
#include "kernels/limits.h"
#include "kernels/problem.h"

namespace normd {

// Runs a property and lets GoogleTest see the result; RapidCheck prints seed and smallest case.
#define NORMD_EXPECT_PROPERTY(text, ...) EXPECT_TRUE(rc::check(text, __VA_ARGS__))

// Sizes matter by their magnitude: as likely between 1 and 10 as between 10^9 and 10^10.
inline rc::Gen<std::int64_t> any_magnitude(std::int64_t low, std::int64_t high) {
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange<int>(0, 41), rc::gen::inRange<std::int64_t>(0, 1 << 30)),
      [low, high](const std::pair<int, std::int64_t>& parts) {
        const std::int64_t scale = std::int64_t{1} << parts.first;
        return std::clamp(scale + parts.second % scale, low, high);
      });
}

inline rc::Gen<DType> any_dtype() {
  return rc::gen::element(DType::fp32, DType::fp16, DType::bf16);
}

inline rc::Gen<std::optional<DType>> any_optional_dtype() {
  return rc::gen::element<std::optional<DType>>(std::nullopt, DType::fp32, DType::fp16,
                                                DType::bf16);
}

inline Problem any_problem() {
  Problem problem{
      .columns = *any_magnitude(1, limits::columns_max),
      .x = *any_dtype(),
      .y = *any_dtype(),
      .gamma = *any_optional_dtype(),
      .beta = *any_optional_dtype(),
      .stats = *rc::gen::element(Stats::none, Stats::mean, Stats::rstd, Stats::mean_rstd),
      .rows_layout = *rc::gen::element(RowsLayout::contiguous, RowsLayout::strided),
      .align_bytes = *rc::gen::element(4, 8, 16, 32)};
  problem.rows =
      *any_magnitude(0, std::min(limits::rows_max, limits::elements_max / problem.columns));
  return problem;
}

inline DeviceSpec any_device_spec() {
  const auto& names = supported_architectures();
  if (*rc::gen::inRange(0, 4) == 0) return host_device_spec();
  DeviceSpec spec = *architecture_preset(*rc::gen::elementOf(names));
  spec.sm_count = *rc::gen::inRange(1, 300);
  spec.measure_bytes = *any_magnitude(1, std::int64_t{1} << 32);
  return spec;
}

inline Fingerprint any_fingerprint() {
  return Fingerprint{
      .kind = *rc::gen::element(DeviceKind::cuda, DeviceKind::host),
      .capability = *rc::gen::inRange(0, 200),
      .sm_count = *rc::gen::inRange(1, 1000),
      .l2_bytes = *any_magnitude(1, std::int64_t{1} << 40),
      .sm_clock_mhz = *rc::gen::inRange(0, 5000),
      .memory_clock_mhz = *rc::gen::inRange(0, 20000),
      .memory_bus_bits = *rc::gen::inRange(0, 10000),
      .mig = *rc::gen::element<std::string>("none", "1g.18gb", "3g.71gb+me"),
      .power_class_w = *rc::gen::inRange(0, 30) * 50,
      .protocol = *rc::gen::inRange(1, 100),
  };
}

inline Launch any_launch() {
  std::vector<std::string> entries{"normd_kernel"};
  if (*rc::gen::inRange(0, 3) == 0) entries.push_back("normd_finish");
  return Launch{
      .entries = entries,
      .block = *rc::gen::inRange(1, 33) * 32,
      .cluster = *rc::gen::inRange(1, 17),
      .shared_bytes = *rc::gen::inRange(0, 232448),
      .cooperative = *rc::gen::inRange(0, 2) == 1,
      .programmatic = *rc::gen::inRange(0, 2) == 1,
      .rows_per_block = *any_magnitude(1, std::int64_t{1} << 20),
      .blocks_per_row = *rc::gen::inRange(1, 1 << 10),
      .resident = *rc::gen::inRange(0, 2) == 1,
      .strides = *rc::gen::inRange(0, 2) == 1,
      .blocks_max = *any_magnitude(1, 2147483647),
      .workspace_bytes = *any_magnitude(0, std::int64_t{1} << 40),
      .workspace_bytes_per_row = *any_magnitude(0, std::int64_t{1} << 30),
  };
}

inline Candidate any_candidate() {
  Candidate candidate{
      .template_name = *rc::gen::element<std::string>("block_registers", "sub_warp", "warp"),
      .values = {}};
  const int axes = *rc::gen::inRange(0, 5);
  for (int i = 0; i < axes; ++i) {
    candidate.values.emplace_back("axis_" + std::to_string(i), *rc::gen::inRange(0, 1 << 30));
  }
  return candidate;
}

}  // namespace normd
