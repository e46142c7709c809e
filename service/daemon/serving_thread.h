// ServingThread: owns one Device and is the only thread that touches it. It runs launches and loads
// one at a time, in the order of arrival. submit() and load() may be called from any thread and
// never block on the device. A device that is lost ends in `lost`, once, on this thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "service/daemon/log.h"
#include "service/daemon/serve_job.h"
#include "tuner/device/device.h"

namespace normd {

class DeviceAtWork;

class ServingThread {
 public:
  struct Parts {
    std::string device;          // name for open_device
    std::string turn_directory;  // device_turn.h
    int queue_max = 0;
    std::function<void(const Error&)> lost;
    const Log* log = nullptr;
  };
  struct Opened {
    DeviceSpec spec;
    DeviceIdentity identity;
    ServedKernelPointer fallback;
  };

  // Opens the device on its thread, loads the fallback and gates it.
  static Result<std::unique_ptr<ServingThread>> start(Parts parts);
  ~ServingThread();                              // serves what is queued, then closes the device
  ServingThread(const ServingThread&) = delete;  // the thread refers to this object

  // Constant after start.
  const DeviceSpec& spec() const { return opened_.spec; }
  const DeviceIdentity& identity() const { return opened_.identity; }
  const ServedKernelPointer& fallback() const { return opened_.fallback; }

  Result<void> submit(ServeJob job);  // resource_exhausted: serving_queue_max are waiting
  std::future<Result<ServedKernelPointer>> load(LoadOrder order);
  int queued() const;
  std::uint64_t served() const { return served_; }  // requests, by whatever kernel
  // Keys that were served since the last call, each once.
  std::vector<std::string> take_used();

 private:
  struct LoadJob {
    LoadOrder order;
    std::promise<Result<ServedKernelPointer>> loaded;
  };
  using Job = std::variant<ServeJob, LoadJob>;
  explicit ServingThread(Parts parts);
  void work(std::promise<Result<Opened>> opened);
  Result<Opened> open_and_gate(DeviceAtWork& at_work);
  void work_on(DeviceAtWork& at_work);
  void do_job(DeviceAtWork& at_work, Job job);
  Result<void> enqueue(Job job, bool bounded);
  void note_used(ServedKernel& kernel);

  const Parts parts_;
  Opened opened_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::vector<std::string> used_;  // in this round
  std::atomic<std::uint64_t> used_round_ = 1;
  std::atomic<std::uint64_t> served_ = 0;
  std::jthread thread_;
};

}  // namespace normd
