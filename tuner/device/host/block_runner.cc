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

// Kernels call plain functions without a context argument, so the running grid has to be found
// from the thread. Set for the length of one run() only.
thread_local BlockRunner* running = nullptr;

}  // namespace

// What stands between a kernel and the switch becomes part of the call in the table: see
// Fibre::switch_to.

// A warp goes on for as long as it can before the next one begins: that drives the warps of a block
// as far apart as its barriers allow. The fibre of run() comes next when the block is over or
// stuck.
[[gnu::always_inline]] inline Fibre& BlockRunner::next_fibre() {
  for (;;) {
    if (runnable_.empty()) {
      if (at_barrier_ < grid_.threads) return outside_;
      start_round();
    }
    const int index = runnable_.back();
    Warp& warp = warps_[static_cast<std::size_t>(index)];
    if (const int lane = warp.next_lane(); lane >= 0) {
      thread_ = index * warp_lanes + lane;
      return *threads_[static_cast<std::size_t>(thread_)]->fibre;
    }
    if (warp.offered() == warp_lanes) {
      warp.exchange();
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

[[gnu::always_inline]] inline void BlockRunner::wait_at_barrier() {
  ++at_barrier_;
  wait();
}

[[gnu::always_inline]] inline unsigned BlockRunner::exchange(unsigned value, int source) {
  const int lane = thread_ % warp_lanes;
  Warp& warp = warps_[static_cast<std::size_t>(thread_ / warp_lanes)];
  warp.offer(lane, value, source);
  wait();
  return warp.received(lane);
}

struct BlockRunner::Calls {
  static int thread_index() { return running->thread_; }
  static long long block_index() { return running->block_; }
  static long long grid_blocks() { return running->grid_.blocks; }
  static void* shared_memory() { return running->shared_memory_.get(); }
  static void block_barrier() { running->wait_at_barrier(); }
  static unsigned shuffle_xor(unsigned value, int lane_mask) {
    return running->exchange(value, running->thread_ ^ lane_mask);
  }
  static unsigned shuffle_from(unsigned value, int lane) { return running->exchange(value, lane); }

  static constexpr HostRuntime table = {.thread_index = &thread_index,
                                        .block_index = &block_index,
                                        .grid_blocks = &grid_blocks,
                                        .shared_memory = &shared_memory,
                                        .block_barrier = &block_barrier,
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
  for (std::int64_t position = 0; outcome && position < grid.blocks; ++position) {
    if (!run_block(block_at(position))) outcome = fail(fault());
  }
  running = nullptr;
  shared_memory_.reset();
  // After a fault some fibres stand in the middle of the kernel; nothing may go on from there.
  if (!outcome) threads_.clear();
  return outcome;
}

Result<void> BlockRunner::prepare(const Grid& grid) {
  NORMD_CHECK(grid.entry != nullptr && grid.threads > 0 && grid.threads % warp_lanes == 0);
  grid_ = grid;
  random_.seed(schedule_.seed);  // so that a launch repeats itself
  block_start_ = static_cast<std::int64_t>(random_()) % std::max<std::int64_t>(grid.blocks, 1);
  do {
    block_step_ = 1 + static_cast<std::int64_t>(random_()) % std::max<std::int64_t>(grid.blocks, 1);
  } while (std::gcd(block_step_, grid.blocks) != 1);
  // On the heap and not a byte longer than asked for: the address sanitizer sees an overrun.
  void* shared = nullptr;
  if (posix_memalign(&shared, shared_alignment_bytes, grid.shared_bytes) != 0) {
    return fail(ErrorCode::resource_exhausted,
                "allocating " + std::to_string(grid.shared_bytes) + " bytes of shared memory");
  }
  shared_memory_.reset(shared);
  warps_.resize(static_cast<std::size_t>(grid.threads / warp_lanes));
  while (threads_.size() < static_cast<std::size_t>(grid.threads)) {
    auto thread =
        std::make_unique<Thread>(Thread{this, static_cast<int>(threads_.size()), nullptr});
    auto fibre = Fibre::create(&run_thread, thread.get(), stack_bytes);
    if (!fibre) return fail(std::move(fibre.error()));
    thread->fibre = std::move(*fibre);
    threads_.push_back(std::move(thread));
  }
  return {};
}

// One round of this loop per block: the fibre outlives the kernel's thread that it runs.
void BlockRunner::run_thread(void* argument) {
  Thread& thread = *static_cast<Thread*>(argument);
  BlockRunner& runner = *thread.runner;
  for (;;) {
    runner.grid_.entry(runner.grid_.arguments);
    ++runner.ended_;
    runner.ended_thread_ = thread.index;
    runner.wait();
  }
}

std::int64_t BlockRunner::block_at(std::int64_t position) const {
  switch (schedule_.order) {
    case ScheduleOrder::ascending:
      return position;
    case ScheduleOrder::descending:
      return grid_.blocks - 1 - position;
    case ScheduleOrder::shuffled:
      // The step shares no factor with the count, so every block has its turn once. Both are below
      // 2^31.
      return (block_start_ + position * block_step_) % grid_.blocks;
  }
  NORMD_CHECK(!"a schedule order that is none");
}

// False: the block is stuck.
bool BlockRunner::run_block(std::int64_t block) {
  block_ = block;
  ended_ = 0;
  if (grid_.shared_bytes > 0) {
    std::memset(shared_memory_.get(), schedule_.shared_fill, grid_.shared_bytes);
  }
  for (Warp& warp : warps_) warp.forget_offers();
  start_round();
  outside_.switch_to(next_fibre());
  return ended_ == grid_.threads;
}

Error BlockRunner::fault() const {
  int exchanging = 0;
  for (const Warp& warp : warps_) exchanging += warp.offered();
  std::string words = "fault: " + std::string(grid_.name) + ", block " + std::to_string(block_) +
                      ": of " + std::to_string(grid_.threads) + " threads " +
                      std::to_string(at_barrier_) + " wait at a block barrier, " +
                      std::to_string(exchanging) + " in a shuffle, and " + std::to_string(ended_) +
                      " have ended";
  if (ended_ > 0) words += ", thread " + std::to_string(ended_thread_) + " the last of them";
  return Error{.code = ErrorCode::internal, .message = std::move(words)};
}

void BlockRunner::start_round() {
  at_barrier_ = 0;
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
