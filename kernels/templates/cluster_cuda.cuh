// The CUDA body of cluster.cuh: mbarriers, bulk copies and distributed shared memory, as the PTX
// manual describes them.
#pragma once

namespace normd {

NORMD_DEVICE void arrival_begin(Arrival* arrival) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(arrival)) : "memory");
}

// What this thread has begun is seen by the copying unit, and after a barrier by other blocks.
NORMD_DEVICE void publish_arrivals() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

NORMD_DEVICE void arrival_expect(Arrival* arrival, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrival)),
      "r"(bytes)
      : "memory");
}

// Until the phase of that parity has ended; the first phase has parity 0.
NORMD_DEVICE void arrival_wait(Arrival* arrival, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\nbra again;\nover:\n}" ::"r"(shared_address(arrival)),
      "r"(parity)
      : "memory");
}

// Whole multiples of 16 bytes between addresses that are, too.
template <Hint hint = Hint::normal>
NORMD_DEVICE void bulk_copy(void* shared, const void* global, int bytes, Arrival* arrival) {
  if constexpr (hint == Hint::last_to_leave) {
    // The policy within, so that no register holds it from row to row.
    asm volatile(
        "{\n.reg .b64 last;\ncreatepolicy.fractional.L2::evict_last.b64 last, 1.0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1], %2, [%3], last;\n}" ::"r"(shared_address(shared)),
        "l"(global), "r"(bytes), "r"(shared_address(arrival))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(shared)),
        "l"(global), "r"(bytes), "r"(shared_address(arrival))
        : "memory");
  }
}

// Puts the message where block `rank` of the cluster has what `place` is here, and lets its
// counterpart of `arrival` know.
NORMD_DEVICE void send_message(int rank, Message* place, const Message& message, Arrival* arrival) {
  unsigned there;
  unsigned arrival_there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(place)), "r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(arrival_there)
      : "r"(shared_address(arrival)), "r"(rank));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(there),
      "r"(__float_as_uint(message.value[0])), "r"(__float_as_uint(message.value[1])),
      "r"(__float_as_uint(message.value[2])), "r"(__float_as_uint(message.value[3])),
      "r"(arrival_there)
      : "memory");
}

// Each once per kernel, by every thread of every block of the cluster. Relaxed: what others are to
// see has been published; a barrier that releases would first wait for all that a thread has asked
// of memory, bulk copies too.
NORMD_DEVICE void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
NORMD_DEVICE void cluster_wait() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

}  // namespace normd
