// The CUDA body of platform.cuh; with cluster_cuda.cuh and grid_cuda.cuh the only text
// with inline assembly.
#pragma once

// Every kernel waits for its stream before it touches memory (platform.cuh).
#define NORMD_KERNEL_WITHIN(entry, Arguments, ...)                   \
  NORMD_DEVICE void entry##_body(const normd::Arguments& arguments); \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)          \
      entry(const __grid_constant__ normd::Arguments arguments) {    \
    normd::wait_for_stream();                                        \
    entry##_body(arguments);                                         \
  }                                                                  \
  NORMD_DEVICE void entry##_body(const normd::Arguments& arguments)
// NORMD_KERNEL(entry, NormArguments, 256) { ... arguments.x ... }
#define NORMD_KERNEL(entry, Arguments, threads) NORMD_KERNEL_WITHIN(entry, Arguments, threads)
// The same where so many blocks of it are to fit a multiprocessor at once.
#define NORMD_KERNEL_RESIDENT(entry, Arguments, threads, blocks) \
  NORMD_KERNEL_WITHIN(entry, Arguments, threads, blocks)
#define NORMD_DEVICE __device__ __forceinline__
#define NORMD_DEVICE_CALL __device__ __noinline__
#define NORMD_OFFSET(Type, member) __INTADDR__(&(static_cast<Type*>(nullptr)->member))

namespace normd {

// As many blocks as the chips of these architectures have multiprocessors, about.
constexpr unsigned small_grid_blocks = 148;

// A kernel whose launch is programmatic may have blocks on the device before the kernel ahead of it
// in the stream has ended, and so may the one behind it, which saves a launch's latency. Here each
// thread waits until everything ahead has ended and can be seen; then a grid of few blocks lets the
// next one's begin. Of many blocks, those that wait would be in the way.
NORMD_DEVICE void wait_for_stream() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (gridDim.x <= small_grid_blocks)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

NORMD_DEVICE int thread_index() {
  __builtin_assume(threadIdx.x < 1024u);  // so that dividing by a power of two is a shift
  return static_cast<int>(threadIdx.x);
}
NORMD_DEVICE long long block_index() {
  return blockIdx.x;
}
NORMD_DEVICE long long grid_blocks() {
  return gridDim.x;
}
NORMD_DEVICE void block_barrier() {
  __syncthreads();
}
NORMD_DEVICE void warp_barrier() {
  __syncwarp();
}
template <int threads>
NORMD_DEVICE void group_barrier(int group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(threads) : "memory");
}

// The assembler moves loads to where it likes them, past the sums that they should hide behind, but
// none past this: an instruction that tells a profiler of an event.
NORMD_DEVICE void loads_stay() {
  asm volatile("pmevent 1;" ::: "memory");
}

template <typename T>
NORMD_DEVICE T* shared_memory() {
  extern __shared__ __align__(128) unsigned char normd_shared[];
  return reinterpret_cast<T*>(normd_shared);
}

NORMD_DEVICE float shuffle_xor(float value, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}
NORMD_DEVICE double shuffle_xor(double value, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, value, lane_mask);
}
// True if any thread of the warp says so; `flag` is the same in each `lanes` neighbouring threads.
template <int lanes>
NORMD_DEVICE bool warp_any(bool flag) {
  if constexpr (lanes == warp_lanes) return flag;
  return __any_sync(0xffffffffu, flag) != 0;
}

NORMD_DEVICE float shuffle_from(float value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

template <int bytes>
NORMD_DEVICE void copy_bytes(void* to, const void* from) {
  memcpy(to, from, bytes);
}

NORMD_DEVICE float bits_to_float(unsigned bits) {
  return __uint_as_float(bits);
}
NORMD_DEVICE unsigned float_to_bits(float value) {
  return __float_as_uint(value);
}

// Of a normal number, within one unit in the last place: the fast approximation and one step of
// Newton's, at a third of the latency of the correctly rounded root and reciprocal. `ftz` spares
// what subnormal numbers would need.
NORMD_DEVICE float reciprocal_sqrt(float value) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  const float residual = __fmaf_rn(-__fmul_rn(value, root), root, 1.0f);
  return __fmaf_rn(__fmul_rn(0.5f, root), residual, root);
}
// The same to nearest, but for rare cases: the residual holds what rounding the product took away.
NORMD_DEVICE float reciprocal_sqrt_nearest(float value) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  const float product = __fmul_rn(value, root);
  const float low = __fmaf_rn(value, root, -product);
  const float residual = __fmaf_rn(-low, root, __fmaf_rn(-product, root, 1.0f));
  return __fmaf_rn(__fmul_rn(0.5f, root), residual, root);
}
NORMD_DEVICE float square_root(float value) {
  return __fsqrt_rn(value);
}
NORMD_DEVICE double square_root(double value) {
  return __dsqrt_rn(value);
}
NORMD_DEVICE float fused_multiply_add(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
// Of a number and NaN, the number.
NORMD_DEVICE float smaller_of(float a, float b) {
  return fminf(a, b);
}
NORMD_DEVICE float larger_of(float a, float b) {
  return fmaxf(a, b);
}
NORMD_DEVICE bool is_finite(float value) {
  return fabsf(value) < __int_as_float(0x7f800000);
}

// The widest access of one thread.
#if __CUDA_ARCH__ >= 1000
constexpr int access_bytes_max = 32;
#else
constexpr int access_bytes_max = 16;
#endif

// What the L2 cache is to do with a line that an access brings.
NORMD_DEVICE unsigned long long evict_last_policy() {
  unsigned long long policy = 0;
#if __CUDA_ARCH__ >= 800
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

// NORMD_LOAD_words(instruction, operand): the instruction in four widths; `operand` names the
// policy, for those that take one. All are volatile, which keeps them where the text has them as
// far as the compiler goes; for the assembler see loads_stay(). None is `.nc`: the assembler moves
// such loads past barriers, to where they are used.
#define NORMD_LOAD_1(instruction, operand)         \
  asm volatile(instruction ".b32 %0, [%1]" operand \
               : "=r"(word[0])                     \
               : "l"(address), "l"(policy)         \
               : "memory")
#define NORMD_LOAD_2(instruction, operand)                  \
  asm volatile(instruction ".v2.b32 {%0, %1}, [%2]" operand \
               : "=r"(word[0]), "=r"(word[1])               \
               : "l"(address), "l"(policy)                  \
               : "memory")
#define NORMD_LOAD_4(instruction, operand)                                  \
  asm volatile(instruction ".v4.b32 {%0, %1, %2, %3}, [%4]" operand         \
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) \
               : "l"(address), "l"(policy)                                  \
               : "memory")
#define NORMD_LOAD_8(instruction, operand)                                                  \
  asm volatile(instruction ".v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8]" operand         \
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]), "=r"(word[4]), \
                 "=r"(word[5]), "=r"(word[6]), "=r"(word[7])                                \
               : "l"(address), "l"(policy)                                                  \
               : "memory")

#define NORMD_LOAD_HINTED(load, policy_operand)                                 \
  if constexpr (hint == Hint::normal) load("ld.global", ";");                   \
  if constexpr (hint == Hint::read_only) load("ld.global.L1::evict_last", ";"); \
  if constexpr (hint == Hint::last_to_leave) {                                  \
    policy = evict_last_policy();                                               \
    load("ld.global.L2::cache_hint", ", " policy_operand ";");                  \
  }

template <Hint hint, int words>
NORMD_DEVICE void load_words(const void* address, unsigned (&word)[words]) {
  unsigned long long policy = 0;
  if constexpr (words == 1) {
    NORMD_LOAD_HINTED(NORMD_LOAD_1, "%2")
  } else if constexpr (words == 2) {
    NORMD_LOAD_HINTED(NORMD_LOAD_2, "%3")
  } else if constexpr (words == 4) {
    NORMD_LOAD_HINTED(NORMD_LOAD_4, "%5")
  } else {
    static_assert(words == 8, "4 to 32 bytes");
#if __CUDA_ARCH__ >= 1000
    NORMD_LOAD_HINTED(NORMD_LOAD_8, "%9")
#endif
  }
}

#define NORMD_STORE_1(instruction) \
  asm volatile(instruction ".b32 [%0], %1;" ::"l"(address), "r"(word[0]) : "memory")
#define NORMD_STORE_2(instruction)                                                              \
  asm volatile(instruction ".v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(word[0]), "r"(word[1]) \
               : "memory")
#define NORMD_STORE_4(instruction)                                                         \
  asm volatile(instruction ".v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(word[0]), \
               "r"(word[1]), "r"(word[2]), "r"(word[3])                                    \
               : "memory")
#define NORMD_STORE_8(instruction)                                                                 \
  asm volatile(instruction ".v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(address),       \
               "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(word[4]), "r"(word[5]), \
               "r"(word[6]), "r"(word[7])                                                          \
               : "memory")

// Written out because the compiler does not gather the 16-bit members of a pack into one access.
// Stores stay in L2, where whatever comes next finds y.
template <int words>
NORMD_DEVICE void store_words(void* address, const unsigned (&word)[words]) {
  if constexpr (words == 1) {
    NORMD_STORE_1("st.global");
  } else if constexpr (words == 2) {
    NORMD_STORE_2("st.global");
  } else if constexpr (words == 4) {
    NORMD_STORE_4("st.global");
  } else {
    static_assert(words == 8, "4 to 32 bytes");
#if __CUDA_ARCH__ >= 1000
    NORMD_STORE_8("st.global");
#endif
  }
}

template <Hint hint, typename T, int count>
NORMD_DEVICE Pack<T, count> load_pack(const T* address) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  Pack<T, count> pack;
  if constexpr (bytes >= 4) {
    unsigned word[bytes / 4];
    load_words<hint>(address, word);
    copy_bytes<bytes>(&pack, word);
  } else {
    pack = *reinterpret_cast<const Pack<T, count>*>(address);
  }
  return pack;
}

// Makes the compilers take 16-bit elements for new, so that they keep the packed registers and
// convert them again, where they would rather keep what they had converted: twice the registers.
// Grids are one-dimensional, so blockIdx.y is a zero that no compiler can know of.
template <typename T, int count>
NORMD_DEVICE void keep_packed(Pack<T, count>& pack) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  if constexpr (sizeof(T) == 2 && bytes >= 4) {
    unsigned word[bytes / 4];
    copy_bytes<bytes>(word, &pack);
#pragma unroll
    for (int i = 0; i < bytes / 4; ++i) word[i] += blockIdx.y;
    copy_bytes<bytes>(&pack, word);
  }
}

// From shared memory.
template <typename T, int count>
NORMD_DEVICE Pack<T, count> load_shared(const T* address) {
  return *reinterpret_cast<const Pack<T, count>*>(address);
}

template <typename T, int count>
NORMD_DEVICE void store_pack(T* address, const Pack<T, count>& pack) {
  constexpr int bytes = static_cast<int>(sizeof(T)) * count;
  if constexpr (bytes >= 4) {
    unsigned word[bytes / 4];
    copy_bytes<bytes>(word, &pack);
    store_words(address, word);
  } else {
    *reinterpret_cast<Pack<T, count>*>(address) = pack;
  }
}

}  // namespace normd
