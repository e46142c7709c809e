// BlockRunner: runs the grid of one host kernel, block after block, with one fibre per thread of a
// block, in the order that its HostSchedule says. It is what the calls of HostRuntime end up in.
// Fibres are kept from block to block and from launch to launch. Belongs to one thread, its
// device's. It never checks limits or results.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/error.h"
#include "kernels/host_runtime.h"
#include "tuner/device/host/fibre.h"
#include "tuner/device/host/host_schedule.h"
#include "tuner/device/host/warp.h"

namespace normd {

using HostEntry = void (*)(const void* arguments);

struct Grid {
  std::string_view name;  // of the entry, for error messages
  HostEntry entry = nullptr;
  const void* arguments = nullptr;
  std::int64_t blocks = 0;
  int threads = 0;  // per block, a multiple of 32
  std::size_t shared_bytes = 0;
};

class BlockRunner {
 public:
  explicit BlockRunner(HostSchedule schedule);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;  // its fibres refer to it by address
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Runs the whole grid. internal, "fault: ...": a thread ended while others wait for it, or
  // threads wait for each other; the blocks after it are not run. resource_exhausted: no memory.
  Result<void> run(const Grid& grid);

  // The table to hand to every shared object; it leads to whichever grid runs on this thread.
  static const HostRuntime& host_runtime();

 private:
  struct Calls;  // the functions in the table
  struct Thread {
    BlockRunner* runner;
    int index;
    std::unique_ptr<Fibre> fibre;
  };
  struct Free {
    void operator()(void* address) const { std::free(address); }
  };

  static void run_thread(void* thread);
  Result<void> prepare(const Grid& grid);
  bool run_block(std::int64_t block);
  Error fault() const;
  std::int64_t block_at(std::int64_t position) const;

  // Called on a thread's fibre.
  void wait();
  void wait_at_barrier();
  unsigned exchange(unsigned value, int source);

  Fibre& next_fibre();
  void start_round();  // all threads may run: at a block's start and when a barrier opens
  void draw_lanes(Warp& warp);
  void pick_warp();
  template <typename Items>
  void shuffle(Items& items);

  const HostSchedule schedule_;
  std::minstd_rand random_;
  std::int64_t block_start_ = 0;  // of the shuffled order of blocks
  std::int64_t block_step_ = 1;

  Grid grid_;
  std::unique_ptr<void, Free> shared_memory_;
  std::int64_t block_ = 0;  // the running one
  int thread_ = 0;          // the running one, within its block
  int at_barrier_ = 0;
  int ended_ = 0;
  int ended_thread_ = 0;  // one of them
  std::vector<Warp> warps_;
  std::vector<int> runnable_;  // warps that may go on; the last one is next
  Fibre outside_;              // the stack that run() was called on
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace normd
