// compare_bytes: where two stretches of memory differ first. Threads take steps of 2 or 16 bytes,
// neighbours neighbouring ones; each block keeps the lowest pair of bytes that differs among its
// own. Both stretches are read once.
#include "platform.cuh"

namespace normd {

static_assert(rows_per_block == 1, "as the Launch says: one stretch of steps");
static_assert(shared_bytes == 8 * block_threads, "as the Launch says");
static_assert((block_threads & (block_threads - 1)) == 0, "halves need a power of two");

// The first byte of a step whose pair differs, as bits; -1: none. bf16 stands for any two bytes.
template <int pairs>
NORMD_DEVICE int differs_at(const unsigned char* got, const unsigned char* wanted) {
  const auto one = load_pack<Hint::normal, bf16, pairs>(reinterpret_cast<const bf16*>(got));
  const auto other = load_pack<Hint::normal, bf16, pairs>(reinterpret_cast<const bf16*>(wanted));
  int first = -1;
#pragma unroll
  for (int i = pairs - 1; i >= 0; --i) {
    if (one.element[i].bits != other.element[i].bits) first = 2 * i;
  }
  return first;
}

// Of the stretches that a block takes, the lowest that its thread finds: each goes upwards.
template <int pairs>
NORMD_DEVICE long long first_difference(const CompareArguments& arguments) {
  constexpr int bytes = 2 * pairs;
  const long long row_steps = arguments.row_bytes / bytes;
  const long long steps = arguments.rows * row_steps;
  for (long long stretch = block_index(); stretch * compare_steps < steps;
       stretch += grid_blocks()) {
    for (int i = thread_index(); i < compare_steps; i += block_threads) {
      const long long step = stretch * compare_steps + i;
      if (step >= steps) break;
      const long long row = step / row_steps;
      const long long within = (step - row * row_steps) * bytes;
      long long from = row * arguments.wanted_stride + within;
      if (arguments.wanted_bytes > 0) from %= arguments.wanted_bytes;
      const int at = differs_at<pairs>(
          static_cast<const unsigned char*>(arguments.got) + row * arguments.got_stride + within,
          static_cast<const unsigned char*>(arguments.wanted) + from);
      if (at >= 0) return step * bytes + at;
    }
  }
  return -1;
}

NORMD_KERNEL(normd_compare_bytes, CompareArguments, block_threads) {
  auto* const found = shared_memory<long long>();
  found[thread_index()] =
      arguments.step_bytes == 16 ? first_difference<8>(arguments) : first_difference<1>(arguments);
  block_barrier();
  for (int half = block_threads / 2; half > 0; half /= 2) {
    if (thread_index() < half) {
      const long long own = found[thread_index()];
      const long long other = found[thread_index() + half];
      if (own < 0 || (other >= 0 && other < own)) found[thread_index()] = other;
    }
    block_barrier();
  }
  if (thread_index() == 0) arguments.differences[block_index()] = found[0];
}

}  // namespace normd
