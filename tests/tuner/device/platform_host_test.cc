// Each primitive of kernels/templates/platform.cuh but the conversions, in its host body, against
// plain C++.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/dtype.h"
#include "tests/tuner/device/host_kernels.h"

namespace normd {
namespace {

// x is read, y is written; `columns` is how many values there are.
constexpr std::string_view kernels = R"(
NORMD_KERNEL(shuffles, NormArguments, 64) {
  const float* x = static_cast<const float*>(arguments.x);
  float* y = static_cast<float*>(arguments.y);
  const int thread = thread_index();
  for (int lane = 0; lane < 32; ++lane) {
    y[lane * 192 + thread] = shuffle_xor(x[thread], lane);
    y[lane * 192 + 64 + thread] = shuffle_from(x[thread], lane);
    const double sum = shuffle_xor(x[thread] + 0x1p-40, lane);
    const double expected = x[(thread & 32) | ((thread & 31) ^ lane)] + 0x1p-40;
    y[lane * 192 + 128 + thread] = static_cast<float>(sum == expected);
  }
}

NORMD_KERNEL(rotate, NormArguments, 64) {
  float* shared = shared_memory<float>();
  float value = static_cast<const float*>(arguments.x)[thread_index()];
  for (int round = 0; round < 100; ++round) {
    shared[thread_index()] = value;
    block_barrier();
    value = shared[(thread_index() + 1) % 64] + 1.0f;
    block_barrier();
  }
  static_cast<float*>(arguments.y)[thread_index()] = value;
}

NORMD_KERNEL(rotate_in_warps, NormArguments, 64) {
  float* shared = shared_memory<float>() + thread_index() / 32 * 32;
  const int lane = thread_index() % 32;
  float value = static_cast<const float*>(arguments.x)[thread_index()];
  for (int round = 0; round < 100; ++round) {
    shared[lane] = value;
    warp_barrier();
    value = shared[(lane + 1) % 32] + 1.0f;
    warp_barrier();
  }
  static_cast<float*>(arguments.y)[thread_index()] = value;
}

NORMD_KERNEL(packs_in_shared, NormArguments, 64) {
  const float* x = static_cast<const float*>(arguments.x);
  Pack<fp32, 4> pack;
  for (int i = 0; i < 4; ++i) pack.element[i].value = x[thread_index()] + i;
  if (thread_index() < 16) store_shared(shared_memory<fp32>() + 4 * thread_index(), pack);
  block_barrier();
  const int other = 15 - thread_index() % 16;
  const Pack<fp32, 2> half = load_shared_here<fp32, 2>(shared_memory<fp32>() + 4 * other + 2);
  static_cast<float*>(arguments.y)[thread_index()] = half.element[0].value * half.element[1].value;
}

template <int lanes> static void sum_lanes(const NormArguments& arguments, int place) {
  const float* x = static_cast<const float*>(arguments.x);
  float* y = static_cast<float*>(arguments.y);
  y[place * 128 + thread_index()] = lanes_sum<lanes>(x[thread_index()]);
  const double precise = x[thread_index()] * 0x1p-30;
  y[place * 128 + 64 + thread_index()] = static_cast<float>(lanes_sum<lanes>(precise) * 0x1p30);
}
NORMD_KERNEL(lane_sums, NormArguments, 64) {
  sum_lanes<1>(arguments, 0);
  sum_lanes<2>(arguments, 1);
  sum_lanes<4>(arguments, 2);
  sum_lanes<8>(arguments, 3);
  sum_lanes<16>(arguments, 4);
  sum_lanes<32>(arguments, 5);
}

NORMD_KERNEL(lane_sums_of_three, NormArguments, 64) {
  const float x = static_cast<const float*>(arguments.x)[thread_index()];
  float values[3] = {x, 2.0f * x, 1.0f};
  lanes_sums<8>(values);
  for (int i = 0; i < 3; ++i) static_cast<float*>(arguments.y)[i * 64 + thread_index()] = values[i];
}

// Sixteen elements per thread from an address that is aligned to `align` bytes and no more, through
// shared memory.
template <int align> static void copy_elements(const NormArguments& arguments) {
  if (thread_index() >= 4) return;
  const int place = align / 2 + thread_index() * 16;
  const bf16* x = static_cast<const bf16*>(arguments.x) + place;
  bf16* y = static_cast<bf16*>(arguments.y) + place;
  bf16* shared = shared_memory<bf16>() + place;
  Pack<bf16, 16> pack;
  load_elements<Hint::normal, align>(x, pack);
  store_elements<align>(shared, pack);
  for (int i = 0; i < 16; ++i) pack.element[i] = load_shared<bf16, 1>(shared + i).element[0];
  store_elements<align>(y, pack);
}
NORMD_KERNEL(copy_by_2, NormArguments, 64) { copy_elements<2>(arguments); }
NORMD_KERNEL(copy_by_4, NormArguments, 64) { copy_elements<4>(arguments); }
NORMD_KERNEL(copy_by_8, NormArguments, 64) { copy_elements<8>(arguments); }
NORMD_KERNEL(copy_by_16, NormArguments, 64) { copy_elements<16>(arguments); }

NORMD_KERNEL(any_flags, NormArguments, 64) {
  const float* x = static_cast<const float*>(arguments.x);
  static_cast<float*>(arguments.y)[thread_index()] = warp_any<1>(x[thread_index()] != 0) ? 1 : 0;
}

template <typename T, int count, Hint hint> static void copy_packs(const NormArguments& arguments) {
  const T* x = static_cast<const T*>(arguments.x);
  T* y = static_cast<T*>(arguments.y);
  for (long long i = thread_index(); (i + 1) * count <= arguments.columns; i += 64)
    store_pack(y + i * count, load_pack<hint, T, count>(x + i * count));
}
#define COPY(T, count)                                                                      \
  NORMD_KERNEL(copy_##T##_##count##_normal, NormArguments, 64) {                            \
    copy_packs<T, count, Hint::normal>(arguments); }                                        \
  NORMD_KERNEL(copy_##T##_##count##_read_only, NormArguments, 64) {                         \
    copy_packs<T, count, Hint::read_only>(arguments); }
COPY(fp32, 1) COPY(fp32, 2) COPY(fp32, 4)
COPY(fp16, 1) COPY(fp16, 2) COPY(fp16, 4) COPY(fp16, 8)
COPY(bf16, 1) COPY(bf16, 2) COPY(bf16, 4) COPY(bf16, 8)

NORMD_KERNEL(arithmetic, NormArguments, 64) {
  const float* x = static_cast<const float*>(arguments.x);
  float* y = static_cast<float*>(arguments.y);
  const int i = thread_index();
  y[i] = reciprocal_sqrt(x[i]);
  y[64 + i] = static_cast<float>(square_root(x[i]));
  y[128 + i] = fused_multiply_add(x[i], x[i], -1.0f);
  y[192 + i] = is_finite(x[i]) ? 1.0f : 0.0f;
  y[256 + i] = x[i] * x[i] - 1.0f;  // never contracted
}
)";

CompiledOnce binary(kernels);

std::vector<float> sixty_four() {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i * i + 1);
  return values;
}

TEST(PlatformHostTest, shuffles_stay_within_the_warp_and_reach_every_lane) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "shuffles", x, 32 * 192);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t thread = 0; thread < 64; ++thread) {
      const std::size_t warp = thread & 32;
      ASSERT_EQ(y[lane * 192 + thread], x[warp | ((thread & 31) ^ lane)]);
      ASSERT_EQ(y[lane * 192 + 64 + thread], x[warp | lane]);
      ASSERT_EQ(y[lane * 192 + 128 + thread], 1.0f) << "double, mask " << lane;
    }
  }
}

TEST(PlatformHostTest, a_barrier_lets_every_thread_see_what_every_other_wrote) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "rotate", x, 64);
  for (std::size_t thread = 0; thread < 64; ++thread) {
    ASSERT_EQ(y[thread], x[(thread + 100) % 64] + 100.0f);
  }
}

TEST(PlatformHostTest, a_warp_barrier_does_so_for_the_threads_of_a_warp) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "rotate_in_warps", x, 64);
  for (std::size_t thread = 0; thread < 64; ++thread) {
    ASSERT_EQ(y[thread], x[thread / 32 * 32 + (thread % 32 + 100) % 32] + 100.0f);
  }
}

TEST(PlatformHostTest, packs_go_through_shared_memory_in_any_width) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "packs_in_shared", x, 64);
  for (std::size_t thread = 0; thread < 64; ++thread) {
    const float other = x[15 - thread % 16];
    ASSERT_EQ(y[thread], (other + 2) * (other + 3));
  }
}

TEST(PlatformHostTest, lanes_sum_adds_its_group_and_gives_everyone_the_sum) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "lane_sums", x, 6 * 128);
  for (std::size_t place = 0; place < 6; ++place) {
    const std::size_t lanes = std::size_t{1} << place;
    for (std::size_t thread = 0; thread < 64; ++thread) {
      float sum = 0;  // of small integers: exact in any order
      for (std::size_t i = 0; i < lanes; ++i) sum += x[thread / lanes * lanes + i];
      ASSERT_EQ(y[place * 128 + thread], sum) << lanes << " lanes";
      ASSERT_EQ(y[place * 128 + 64 + thread], sum) << lanes << " lanes, double";
    }
  }
}

TEST(PlatformHostTest, several_sums_at_once_are_the_sums_one_by_one) {
  const auto x = sixty_four();
  const auto y = outputs_for<float, float>(*binary, "lane_sums_of_three", x, 192);
  for (std::size_t thread = 0; thread < 64; ++thread) {
    float sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum += x[thread / 8 * 8 + i];
    ASSERT_EQ(y[thread], sum);
    ASSERT_EQ(y[64 + thread], 2 * sum);
    ASSERT_EQ(y[128 + thread], 8.0f);
  }
}

TEST(PlatformHostTest, elements_move_unchanged_at_every_alignment) {
  std::vector<std::uint16_t> x(80);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i * 40503u + 1);
  for (const std::size_t align : {2, 4, 8, 16}) {
    std::vector<std::uint16_t> expected(80);
    const std::size_t begin = align / 2;
    for (std::size_t i = begin; i < begin + 64; ++i) expected[i] = x[i];
    const auto entry = "copy_by_" + std::to_string(align);
    EXPECT_EQ((outputs_for<std::uint16_t, std::uint16_t>(*binary, entry, x, 80)), expected)
        << entry;
  }
}

TEST(PlatformHostTest, one_flag_raises_those_of_its_whole_warp_only) {
  std::vector<float> x(64, 0.0f);
  x[37] = 1.0f;
  const auto y = outputs_for<float, float>(*binary, "any_flags", x, 64);
  for (std::size_t thread = 0; thread < 64; ++thread) {
    ASSERT_EQ(y[thread], thread < 32 ? 0.0f : 1.0f) << thread;
  }
}

TEST(PlatformHostTest, packs_of_every_width_and_hint_move_their_bytes_unchanged) {
  std::vector<std::uint32_t> words(512);
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(i * 2654435761u);  // NaN patterns among them
  }
  for (const DType dtype : all_dtypes) {
    for (std::size_t count = 1; count * size_bytes(dtype) <= 16; count *= 2) {
      for (const char* hint : {"normal", "read_only"}) {
        const std::string entry =
            "copy_" + std::string(dtype_name(dtype)) + "_" + std::to_string(count) + "_" + hint;
        // `columns` counts words here, at most as many as there are elements: a prefix moves.
        const auto got =
            outputs_for<std::uint32_t, std::uint32_t>(*binary, entry, words, words.size());
        const std::size_t moved = words.size() * size_bytes(dtype) / 4;
        ASSERT_EQ(std::memcmp(got.data(), words.data(), moved * 4), 0) << entry;
        if (moved < words.size()) {
          ASSERT_EQ(got[moved], 0u) << entry;
        }
      }
    }
  }
}

TEST(PlatformHostTest, arithmetic_rounds_as_ieee_says) {
  std::vector<float> x = sixty_four();
  x[0] = 1.0f + 0x1p-23f;
  x[1] = INFINITY;
  x[2] = NAN;
  x[3] = 0x1p-149f;
  const auto y = outputs_for<float, float>(*binary, "arithmetic", x, 320);
  for (std::size_t i = 0; i < 64; ++i) {
    if (i == 2) continue;
    ASSERT_EQ(y[i], 1.0f / std::sqrt(x[i])) << x[i];
    ASSERT_EQ(y[64 + i], static_cast<float>(std::sqrt(static_cast<double>(x[i])))) << x[i];
    ASSERT_EQ(y[128 + i], std::fma(x[i], x[i], -1.0f)) << x[i];
    ASSERT_EQ(y[192 + i], std::isfinite(x[i]) ? 1.0f : 0.0f) << x[i];
  }
  EXPECT_EQ(y[192 + 2], 0.0f);
  // The square rounds to 1 + 2^-22 before one is taken away; fused, 2^-46 more is left.
  EXPECT_EQ(y[256], 0x1p-22f);
  EXPECT_EQ(y[128], 0x1p-22f + 0x1p-46f);
}

}  // namespace
}  // namespace normd
