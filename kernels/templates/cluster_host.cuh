// The host body of cluster.cuh: copies are done at once, and whoever waits lets the other fibres of
// the cluster run.
#pragma once

namespace normd {

// Arrival::count: bytes still to come, modulo 2^32, and Arrival::phase: twice the phases that have
// ended, plus one while the running one's arrival has been made.
NORMD_DEVICE void end_phase_if_all_came(Arrival* arrival) {
  if (arrival->count == 0 && (arrival->phase & 1u) != 0) ++arrival->phase;
}

NORMD_DEVICE void arrival_begin(Arrival* arrival) {
  *arrival = Arrival{0, 0};
}
NORMD_DEVICE void publish_arrivals() {}

NORMD_DEVICE void arrival_expect(Arrival* arrival, int bytes) {
  arrival->count += static_cast<unsigned>(bytes);
  arrival->phase |= 1u;
  end_phase_if_all_came(arrival);
}

NORMD_DEVICE void arrival_came(Arrival* arrival, int bytes) {
  arrival->count -= static_cast<unsigned>(bytes);
  end_phase_if_all_came(arrival);
}

// The phase that runs has parity (phase / 2) % 2; of the other parity is the one that ended last.
NORMD_DEVICE bool arrival_happened(const void* arrival, unsigned parity) {
  return ((static_cast<const Arrival*>(arrival)->phase >> 1) & 1u) != parity;
}

NORMD_DEVICE void arrival_wait(Arrival* arrival, unsigned parity) {
  host_runtime->wait_until(&arrival_happened, arrival, parity);
}

template <Hint hint = Hint::normal>
NORMD_DEVICE void bulk_copy(void* shared, const void* global, int bytes, Arrival* arrival) {
  __builtin_memcpy(shared, global, static_cast<unsigned long>(bytes));
  arrival_came(arrival, bytes);
}

template <typename T>
NORMD_DEVICE T* counterpart(int rank, T* place) {
  const auto offset =
      reinterpret_cast<char*>(place) - static_cast<char*>(host_runtime->shared_memory());
  return reinterpret_cast<T*>(static_cast<char*>(host_runtime->shared_memory_of(rank)) + offset);
}

NORMD_DEVICE void send_message(int rank, Message* place, const Message& message, Arrival* arrival) {
  *counterpart(rank, place) = message;
  arrival_came(counterpart(rank, arrival), static_cast<int>(sizeof(Message)));
}

NORMD_DEVICE void cluster_arrive() {
  host_runtime->cluster_arrive();
}
NORMD_DEVICE void cluster_wait() {
  host_runtime->cluster_wait();
}

}  // namespace normd
