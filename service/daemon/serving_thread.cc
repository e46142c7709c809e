#include "service/daemon/serving_thread.h"

#include <utility>

#include "kernels/catalog.h"
#include "service/daemon/launching.h"
#include "tuner/compiler/prebuilt.h"
#include "tuner/device/device_turn.h"
#include "tuner/device/open_device.h"

namespace normd {

// Kernels whose last owner let go, on whatever thread; the serving thread unloads them.
class Unloading {
 public:
  void take(ServedKernel* kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.emplace_back(kernel);
  }
  void unload() {
    std::vector<std::unique_ptr<ServedKernel>> going;
    {
      const std::lock_guard lock(mutex_);
      going.swap(kernels_);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ServedKernel>> kernels_;
};

// Everything on the device, in the order in which it must be made.
class DeviceAtWork {
 public:
  static Result<std::unique_ptr<DeviceAtWork>> open(const std::string& name,
                                                    const std::string& turn_directory) {
    auto device = open_device(name);
    if (!device) return fail(std::move(device.error()));
    auto turn = DeviceTurn::open(turn_directory, (*device)->identity().uuid);
    if (!turn) return fail(std::move(turn.error()));
    return std::make_unique<DeviceAtWork>(std::move(*device), std::move(*turn));
  }

  DeviceAtWork(std::unique_ptr<Device> opened_device, DeviceTurn opened_turn)
      : device(std::move(opened_device)), turn(std::move(opened_turn)), area(*device) {}
  ~DeviceAtWork() { unload(); }

  Result<ServedKernelPointer> load(const LoadOrder& order) {
    auto kernel = load_kernel(*device, order);
    if (!kernel) return fail(std::move(kernel.error()));
    return ServedKernelPointer(kernel->release(),
                               [going = unloading](ServedKernel* last) { going->take(last); });
  }
  void unload() { unloading->unload(); }

  std::unique_ptr<Device> device;
  DeviceTurn turn;
  TransferArea area;
  std::shared_ptr<Unloading> unloading = std::make_shared<Unloading>();
};

ServingThread::ServingThread(Parts parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<ServingThread>> ServingThread::start(Parts parts) {
  std::unique_ptr<ServingThread> serving(new ServingThread(std::move(parts)));
  std::promise<Result<Opened>> promise;
  auto future = promise.get_future();
  serving->thread_ = std::jthread([self = serving.get(), opened = std::move(promise)]() mutable {
    self->work(std::move(opened));
  });
  auto opened = future.get();
  if (!opened) return fail(std::move(opened.error()));
  serving->opened_ = std::move(*opened);
  return serving;
}

ServingThread::~ServingThread() {
  opened_.fallback.reset();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

Result<void> ServingThread::enqueue(Job job, bool bounded) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return fail(ErrorCode::unavailable, "the daemon is stopping");
    if (bounded && jobs_.size() >= static_cast<std::size_t>(parts_.queue_max)) {
      return fail(ErrorCode::resource_exhausted,
                  "the device's queue is at its limit serving_queue_max = " +
                      std::to_string(parts_.queue_max) + "; try again in a moment",
                  "serving_queue_max");
    }
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return {};
}

Result<void> ServingThread::submit(ServeJob job) {
  return enqueue(std::move(job), true);
}

std::future<Result<ServedKernelPointer>> ServingThread::load(LoadOrder order) {
  LoadJob job{std::move(order), {}};
  auto loaded = job.loaded.get_future();
  if (auto queued = enqueue(std::move(job), false); !queued) {
    std::promise<Result<ServedKernelPointer>> refused;
    refused.set_value(fail(std::move(queued.error())));
    return refused.get_future();
  }
  return loaded;
}

int ServingThread::queued() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(jobs_.size());
}

std::vector<std::string> ServingThread::take_used() {
  const std::lock_guard lock(mutex_);
  ++used_round_;
  return std::exchange(used_, {});
}

// Costs a hit no lock but once in a round.
void ServingThread::note_used(ServedKernel& kernel) {
  const std::uint64_t round = used_round_;
  if (kernel.fallback || kernel.noted_in_round == round) return;
  kernel.noted_in_round = round;
  const std::lock_guard lock(mutex_);
  used_.push_back(kernel.key);
}

void ServingThread::work(std::promise<Result<Opened>> opened) {
  auto at_work = DeviceAtWork::open(parts_.device, parts_.turn_directory);
  if (!at_work) return opened.set_value(fail(std::move(at_work.error())));
  auto ready = open_and_gate(**at_work);
  const bool usable = ready.has_value();
  opened.set_value(std::move(ready));
  if (usable) work_on(**at_work);
}

Result<ServingThread::Opened> ServingThread::open_and_gate(DeviceAtWork& at_work) {
  auto binary = prebuilt_binary(Prebuilt::any_columns, at_work.device->spec());
  if (!binary) return fail(std::move(binary.error()));
  auto fallback = at_work.load({.binary = std::move(*binary),
                                .launch = any_columns_launch(),
                                .candidate = "any_columns",
                                .fallback = true});
  if (!fallback) return fail(std::move(fallback.error()));
  auto passed = gate_fallback(*at_work.device, at_work.turn, at_work.area, *fallback);
  if (!passed) return fail(std::move(passed.error()));
  return Opened{at_work.device->spec(), at_work.device->identity(), std::move(*fallback)};
}

void ServingThread::work_on(DeviceAtWork& at_work) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    at_work.unload();
    do_job(at_work, std::move(job));
    lock.lock();
  }
}

// The job is let go before the next is taken: with it go a request's bytes.
void ServingThread::do_job(DeviceAtWork& at_work, Job job) {
  const auto watch = [&](const auto& result) {
    if (!result && result.error().code == ErrorCode::unavailable) parts_.lost(result.error());
  };
  if (auto* serving = std::get_if<ServeJob>(&job)) {
    ++served_;
    ++serving->kernel->uses;
    note_used(*serving->kernel);
    auto times = serve(*at_work.device, at_work.turn, at_work.area, *serving);
    watch(times);
    serving->done(std::move(times));
  } else {
    auto& loading = std::get<LoadJob>(job);
    auto loaded = at_work.load(loading.order);
    watch(loaded);
    loading.loaded.set_value(std::move(loaded));
  }
}

}  // namespace normd
