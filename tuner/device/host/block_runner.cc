#include "tuner/device/host/block_runner.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/check.h"

namespace normd {
namespace {

// Kernels keep little in local arrays: they are written for register files. The address sanitizer
// multiplies what they use.
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

// Shared memory begins as on a GPU: at the widest alignment that a kernel text may assume.
constexpr std::size_t shared_alignment_bytes = 128;

// Groups of one block that have a barrier of their own, as host_runtime.h says.
constexpr int groups_max = 15;

// Kernels call plain functions without a context argument, so the running grid has to be found
// from the thread. Set for the length of one run() only.
thread_local BlockRunner* running = nullptr;

}  // namespace

// What stands between a kernel and the switch becomes part of the call in the table: see
// Fibre::switch_to.

// A warp goes on for as long as it can before the next one begins: that drives the warps of a
// cluster as far apart as its barriers allow. The fibre of run() comes next when the cluster is
// over, or stuck: a whole round in which nobody came further.
[[gnu::always_inline]] inline Fibre& BlockRunner::next_fibre() {
  for (;;) {
    if (runnable_.empty()) {
      if (ended_ == cluster_threads() || !moved_) return outside_;
      start_round();
      continue;
    }
    const int index = runnable_.back();
    Warp& warp = warps_[static_cast<std::size_t>(index)];
    if (const int lane = warp.next_lane(); lane >= 0) {
      thread_ = index * warp_lanes + lane;
      return *threads_[static_cast<std::size_t>(thread_)]->fibre;
    }
    if (warp.offered() == warp_lanes) {
      warp.exchange();
      moved_ = true;
      if (schedule_.order == ScheduleOrder::shuffled) {
        draw_lanes(warp);
        pick_warp();
      }
    } else {
      runnable_.pop_back();
    }
  }
}

[[gnu::always_inline]] inline void BlockRunner::wait() {
  Fibre& self = *threads_[static_cast<std::size_t>(thread_)]->fibre;
  Fibre& next = next_fibre();
  if (&next != &self) self.switch_to(next);
}

template <typename Happened>
[[gnu::always_inline]] inline void BlockRunner::wait_until(Happened happened) {
  while (!happened()) wait();
  moved_ = true;
}

[[gnu::always_inline]] inline void BlockRunner::meet(Meeting& meeting, int threads) {
  const unsigned before = meeting.times;
  if (++meeting.arrived == threads) {
    meeting.arrived = 0;
    ++meeting.times;
  }
  // Whoever comes last waits as well: the others are not to fall behind.
  moved_ = true;
  wait();
  wait_until([&] { return meeting.times != before; });
}

[[gnu::always_inline]] inline unsigned BlockRunner::exchange(unsigned value, int source) {
  const int lane = thread_ % warp_lanes;
  Warp& warp = warps_[static_cast<std::size_t>(thread_ / warp_lanes)];
  warp.offer(lane, value, source);
  wait();
  return warp.received(lane);
}

struct BlockRunner::Calls {
  static int thread_index() { return running->thread_ % running->grid_.threads; }
  static long long block_index() { return running->first_block_ + running->rank(); }
  static long long grid_blocks() { return running->grid_.blocks; }
  static void* shared_memory() { return shared_memory_of(running->rank()); }
  static void* shared_memory_of(int rank) {
    return running->shared_memory_.at(static_cast<std::size_t>(rank)).get();
  }
  static void block_barrier() {
    running->meet(running->at_barrier_[static_cast<std::size_t>(running->rank())],
                  running->grid_.threads);
  }
  static void group_barrier(int group, int threads) {
    NORMD_CHECK(group >= 0 && group < groups_max);
    const int place = running->rank() * groups_max + group;
    running->meet(running->at_group_barrier_[static_cast<std::size_t>(place)], threads);
  }
  static void wait_until(bool (*happened)(const void*, unsigned), const void* what,
                         unsigned detail) {
    running->wait_until([=] { return happened(what, detail); });
  }
  static void cluster_arrive() { ++running->arrived_in_cluster_; }
  static void cluster_wait() {
    running->wait_until([] { return running->arrived_in_cluster_ == running->cluster_threads(); });
  }
  static unsigned shuffle_xor(unsigned value, int lane_mask) {
    return running->exchange(value, running->thread_ ^ lane_mask);
  }
  static unsigned shuffle_from(unsigned value, int lane) { return running->exchange(value, lane); }

  static constexpr HostRuntime table = {.thread_index = &thread_index,
                                        .block_index = &block_index,
                                        .grid_blocks = &grid_blocks,
                                        .shared_memory = &shared_memory,
                                        .block_barrier = &block_barrier,
                                        .group_barrier = &group_barrier,
                                        .wait_until = &wait_until,
                                        .cluster_arrive = &cluster_arrive,
                                        .cluster_wait = &cluster_wait,
                                        .shared_memory_of = &shared_memory_of,
                                        .shuffle_xor = &shuffle_xor,
                                        .shuffle_from = &shuffle_from};
};

const HostRuntime& BlockRunner::host_runtime() {
  return Calls::table;
}

BlockRunner::BlockRunner(HostSchedule schedule) : schedule_(schedule) {}
BlockRunner::~BlockRunner() = default;

Result<void> BlockRunner::run(const Grid& grid) {
  NORMD_CHECK(running == nullptr);
  if (auto ready = prepare(grid); !ready) return ready;
  Result<void> outcome;
  running = this;
  for (std::int64_t position = 0; outcome && position < grid.blocks / grid.cluster; ++position) {
    if (!run_cluster(cluster_at(position))) outcome = fail(fault());
  }
  running = nullptr;
  shared_memory_.clear();
  // After a fault some fibres stand in the middle of the kernel; nothing may go on from there.
  if (!outcome) threads_.clear();
  return outcome;
}

Result<void> BlockRunner::prepare(const Grid& grid) {
  NORMD_CHECK(grid.entry != nullptr && grid.threads > 0 && grid.threads % warp_lanes == 0);
  NORMD_CHECK(grid.cluster > 0 && grid.blocks % grid.cluster == 0);
  grid_ = grid;
  random_.seed(schedule_.seed);  // so that a launch repeats itself
  const std::int64_t clusters = std::max<std::int64_t>(grid.blocks / grid.cluster, 1);
  cluster_start_ = static_cast<std::int64_t>(random_()) % clusters;
  do {
    cluster_step_ = 1 + static_cast<std::int64_t>(random_()) % clusters;
  } while (std::gcd(cluster_step_, clusters) != 1);
  if (auto made = make_shared_memory(); !made) return made;
  at_barrier_.resize(static_cast<std::size_t>(grid.cluster));
  at_group_barrier_.resize(static_cast<std::size_t>(grid.cluster * groups_max));
  warps_.resize(static_cast<std::size_t>(cluster_threads() / warp_lanes));
  while (threads_.size() < static_cast<std::size_t>(cluster_threads())) {
    auto thread =
        std::make_unique<Thread>(Thread{this, static_cast<int>(threads_.size()), nullptr});
    auto fibre = Fibre::create(&run_thread, thread.get(), stack_bytes);
    if (!fibre) return fail(std::move(fibre.error()));
    thread->fibre = std::move(*fibre);
    threads_.push_back(std::move(thread));
  }
  return {};
}

// On the heap and not a byte longer than asked for: the address sanitizer sees an overrun.
Result<void> BlockRunner::make_shared_memory() {
  for (int rank = 0; rank < grid_.cluster; ++rank) {
    void* shared = nullptr;
    if (posix_memalign(&shared, shared_alignment_bytes, grid_.shared_bytes) != 0) {
      return fail(ErrorCode::resource_exhausted,
                  "allocating " + std::to_string(grid_.shared_bytes) + " bytes of shared memory");
    }
    shared_memory_.emplace_back(shared);
  }
  return {};
}

// One round of this loop per cluster: the fibre outlives the kernel's thread that it runs.
void BlockRunner::run_thread(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  BlockRunner& runner = *thread.runner;
  for (;;) {
    runner.grid_.entry(runner.grid_.arguments);
    ++runner.ended_;
    runner.ended_thread_ = thread.index;
    runner.moved_ = true;
    const std::uint64_t over = runner.clusters_begun_;
    while (runner.clusters_begun_ == over) runner.wait();
  }
}

std::int64_t BlockRunner::cluster_at(std::int64_t position) const {
  const std::int64_t clusters = grid_.blocks / grid_.cluster;
  switch (schedule_.order) {
    case ScheduleOrder::ascending:
      return position;
    case ScheduleOrder::descending:
      return clusters - 1 - position;
    case ScheduleOrder::shuffled:
      // The step shares no factor with the count, so every block has its turn once. Both are below
      // 2^31.
      return (cluster_start_ + position * cluster_step_) % clusters;
  }
  NORMD_CHECK(!"a schedule order that is none");
}

// False: the cluster is stuck.
bool BlockRunner::run_cluster(std::int64_t cluster) {
  first_block_ = cluster * grid_.cluster;
  ++clusters_begun_;
  ended_ = 0;
  arrived_in_cluster_ = 0;
  std::ranges::fill(at_barrier_, Meeting{});
  std::ranges::fill(at_group_barrier_, Meeting{});
  for (const auto& shared : shared_memory_) {
    if (grid_.shared_bytes > 0) {
      std::memset(shared.get(), schedule_.shared_fill, grid_.shared_bytes);
    }
  }
  for (Warp& warp : warps_) warp.forget_offers();
  start_round();
  outside_.switch_to(next_fibre());
  return ended_ == cluster_threads();
}

Error BlockRunner::fault() const {
  int exchanging = 0;
  for (const Warp& warp : warps_) exchanging += warp.offered();
  int at_barrier = 0;
  for (const Meeting& meeting : at_barrier_) at_barrier += meeting.arrived;
  std::string words = "fault: " + std::string(grid_.name) + ", block " +
                      std::to_string(first_block_) + ": of " + std::to_string(cluster_threads()) +
                      " threads " + std::to_string(at_barrier) + " wait at a block barrier, " +
                      std::to_string(exchanging) + " in a shuffle, and " + std::to_string(ended_) +
                      " have ended";
  if (ended_ > 0) words += ", thread " + std::to_string(ended_thread_) + " the last of them";
  return Error{.code = ErrorCode::internal, .message = std::move(words)};
}

void BlockRunner::start_round() {
  moved_ = false;
  runnable_.resize(warps_.size());
  std::iota(runnable_.begin(), runnable_.end(), 0);
  // The last one is next.
  if (schedule_.order == ScheduleOrder::ascending) std::reverse(runnable_.begin(), runnable_.end());
  if (schedule_.order == ScheduleOrder::shuffled) shuffle(runnable_);
  for (Warp& warp : warps_) draw_lanes(warp);
}

void BlockRunner::draw_lanes(Warp& warp) {
  std::array<std::uint8_t, warp_lanes> order;
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  if (schedule_.order == ScheduleOrder::descending) std::reverse(order.begin(), order.end());
  if (schedule_.order == ScheduleOrder::shuffled) shuffle(order);
  warp.restart(order);
}

void BlockRunner::pick_warp() {
  const std::size_t pick = random_() % runnable_.size();
  std::swap(runnable_[pick], runnable_.back());
}

template <typename Items>
void BlockRunner::shuffle(Items& items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_() % i]);
}

}  // namespace normd
