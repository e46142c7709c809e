// The CUDA body of platform.cuh, third part: packs in shared memory, moved by one access each and
// kept where the text has them, since a compiler that moves such loads up runs out of registers.
#pragma once

namespace normd {

NORMD_DEVICE unsigned shared_address(const void* address) {
  return static_cast<unsigned>(__cvta_generic_to_shared(address));
}

// Sixteen bytes from global memory, which come by themselves where the chip can do that.
NORMD_DEVICE void copy_to_shared(void* to, const void* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
               : "memory");
#else
  const Pack<fp32, 4> piece = *static_cast<const Pack<fp32, 4>*>(from);
  *static_cast<Pack<fp32, 4>*>(to) = piece;
#endif
}

// For what this thread has asked for.
NORMD_DEVICE void copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

template <typename T, int count>
NORMD_DEVICE Pack<T, count> load_shared_here(const T* address) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  static_assert(bytes % 4 == 0, "whole words");
  unsigned word[bytes / 4];
  const unsigned from = shared_address(address);
  if constexpr (bytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < bytes / 4; i += 4) {
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word[i]), "=r"(word[i + 1]), "=r"(word[i + 2]), "=r"(word[i + 3])
                   : "r"(from + 4 * i)
                   : "memory");
    }
  } else if constexpr (bytes == 8) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(word[0]), "=r"(word[1])
                 : "r"(from)
                 : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < bytes / 4; ++i) {
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word[i]) : "r"(from + 4 * i) : "memory");
    }
  }
  Pack<T, count> pack;
  copy_bytes<bytes>(&pack, word);
  return pack;
}

template <typename T, int count>
NORMD_DEVICE void store_shared(T* address, const Pack<T, count>& pack) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  static_assert(bytes % 4 == 0, "whole words");
  unsigned word[bytes / 4];
  copy_bytes<bytes>(word, &pack);
  const unsigned to = shared_address(address);
  if constexpr (bytes % 16 == 0) {
#pragma unroll
    for (int i = 0; i < bytes / 4; i += 4) {
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to + 4 * i), "r"(word[i]),
                   "r"(word[i + 1]), "r"(word[i + 2]), "r"(word[i + 3])
                   : "memory");
    }
  } else if constexpr (bytes == 8) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(word[0]), "r"(word[1])
                 : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < bytes / 4; ++i) {
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(to + 4 * i), "r"(word[i]) : "memory");
    }
  }
}

}  // namespace normd
