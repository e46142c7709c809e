// gamma and beta of the whole row in shared memory, for the rows of a block to share, where every
// lane would else ask for its own columns once for each row.
#pragma once

#include "row_packs.cuh"

namespace normd {

struct BlockAffine {
  static constexpr int gamma_bytes =
      has_gamma ? row_columns * static_cast<int>(sizeof(gamma_type)) : 0;
  static constexpr int beta_bytes =
      has_beta ? row_columns * static_cast<int>(sizeof(beta_type)) : 0;
  static constexpr int bytes = gamma_bytes + beta_bytes;
  static constexpr int piece = 16;  // bytes that a thread brings at a time
  static constexpr bool anywhere = true;

  static_assert(affine_shared == 0 || (gamma_bytes % piece == 0 && beta_bytes % piece == 0),
                "whole pieces");
  static_assert(affine_shared == 0 || (align_bytes >= piece && whole_packs),
                "as the catalog has it");

  static NORMD_DEVICE unsigned char* at(int offset) {
    return shared_memory<unsigned char>() + offset;
  }

  // By every thread: asks for its pieces, which come by themselves.
  NORMD_DEVICE explicit BlockAffine(const NormArguments& arguments) {
    for (int i = thread_index() * piece; i < bytes; i += block_threads * piece) {
      const bool of_gamma = i < gamma_bytes;
      const void* const from = of_gamma ? arguments.gamma : arguments.beta;
      copy_to_shared(at(i),
                     static_cast<const unsigned char*>(from) + (of_gamma ? i : i - gamma_bytes));
    }
  }
  template <typename RowSlice>
  NORMD_DEVICE void ask(const RowSlice&) {}

  // By every thread of the block, before any of them applies it.
  NORMD_DEVICE void wait() const {
    copies_wait();
    block_barrier();
  }

  template <typename RowSlice>
  NORMD_DEVICE AffinePacks of(const RowSlice& slice, int i) const {
    const int column = slice.column_there(i);
    return shared_affine_packs(reinterpret_cast<const gamma_type*>(at(0)) + column,
                               reinterpret_cast<const beta_type*>(at(gamma_bytes)) + column);
  }
};

}  // namespace normd
