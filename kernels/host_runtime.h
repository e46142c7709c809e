// HostRuntime: what a kernel text calls when it is compiled for the CPU. The host device
// (tuner/device/host) fills the table in and hands it to the shared object that the host compiler
// made; the kernel text includes this and nothing else. Called from fibres of one thread only.
#pragma once

namespace normd {

constexpr int host_runtime_version = 2;

struct HostRuntime {
  int (*thread_index)();        // of the running fibre within its block
  long long (*block_index)();
  long long (*grid_blocks)();
  void* (*shared_memory)();     // the block's dynamic shared memory; every byte 0xff at its start
  void (*block_barrier)();      // every thread of the block arrives before any goes on
  // What follows until the exchanges is for all threads of a warp together. The same for the
  // `threads` threads that name this group, 0 to 14, alone.
  void (*group_barrier)(int group, int threads);
  // Goes on once `happened(what, detail)`; other threads of the cluster run meanwhile.
  void (*wait_until)(bool (*happened)(const void* what, unsigned detail), const void* what,
                     unsigned detail);
  // Each once per thread: the wait ends when every thread of the cluster has arrived.
  void (*cluster_arrive)();
  void (*cluster_wait)();
  void* (*shared_memory_of)(int rank);  // of another block of the cluster
  // Exchanges within the warp of 32 threads. Every thread of the warp takes part.
  unsigned (*shuffle_xor)(unsigned value, int lane_mask);
  unsigned (*shuffle_from)(unsigned value, int lane);
};

}  // namespace normd

// Every host binary exports two symbols:
//   extern "C" void normd_set_host_runtime(const normd::HostRuntime*);
//   extern "C" void <entry>(const void* arguments);   called once per thread of the grid
