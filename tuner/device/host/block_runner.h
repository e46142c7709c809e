// BlockRunner: runs the grid of one host kernel, cluster after cluster of blocks (a block alone is
// a cluster of one, the blocks of a cooperative launch are one together), with one fibre per thread
// of the cluster, in the order that its HostSchedule says. It is what the calls of HostRuntime end
// up in. Fibres are kept from block to block and from launch to launch. Belongs to one thread, its
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
  int cluster = 1;  // blocks that run together; a divisor of `blocks`
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
  Result<void> make_shared_memory();
  bool run_cluster(std::int64_t cluster);
  Error fault() const;
  std::int64_t cluster_at(std::int64_t position) const;
  int cluster_threads() const { return grid_.cluster * grid_.threads; }
  int rank() const { return thread_ / grid_.threads; }

  // Threads that wait for each other, over and over.
  struct Meeting {
    int arrived = 0;
    unsigned times = 0;  // that all had arrived
  };

  // Called on a thread's fibre.
  void wait();
  void meet(Meeting& meeting, int threads);
  template <typename Happened>
  void wait_until(Happened happened);
  unsigned exchange(unsigned value, int source);

  Fibre& next_fibre();
  void start_round();  // whoever is in no exchange may run and look at what it waits for
  void draw_lanes(Warp& warp);
  void pick_warp();
  template <typename Items>
  void shuffle(Items& items);

  const HostSchedule schedule_;
  std::minstd_rand random_;
  std::int64_t cluster_start_ = 0;  // of the shuffled order of clusters
  std::int64_t cluster_step_ = 1;

  Grid grid_;
  std::vector<std::unique_ptr<void, Free>> shared_memory_;  // of each block of the cluster
  std::int64_t first_block_ = 0;                            // of the running cluster
  std::uint64_t clusters_begun_ = 0;
  int thread_ = 0;                         // the running one, within its cluster
  std::vector<Meeting> at_barrier_;        // of each block
  std::vector<Meeting> at_group_barrier_;  // groups_max of each block
  int arrived_in_cluster_ = 0;
  bool moved_ =
      false;  // this round, some thread came further than another look at what it waits for
  int ended_ = 0;
  int ended_thread_ = 0;  // one of them
  std::vector<Warp> warps_;
  std::vector<int> runnable_;  // warps that may go on; the last one is next
  Fibre outside_;              // the stack that run() was called on
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace normd
