#include "tuner/tuning_queue.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace normd {
namespace {

using Clock = std::chrono::steady_clock;

// How often a key that another process tunes is looked at: each look is a write to the store.
constexpr auto look_again_every = std::chrono::milliseconds(250);

}  // namespace

struct TuningQueue::State {
  struct Flight {
    std::string key_text;
    std::string client;  // who caused it
    TuneRequest request;
    std::map<WaiterId, Waiter> waiters;
    Clock::time_point not_before;  // while another process tunes it
  };

  TuneFunction tune;
  int queue_max;
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  // Guarded by mutex. A flight stays here until its waiters have been answered.
  std::deque<std::shared_ptr<Flight>> queued;
  std::shared_ptr<Flight> running;
  std::map<std::string, int> served;  // tunings begun, by client, for fairness
  WaiterId last_waiter = 0;
  bool calling_back = false;  // a waiter's callbacks are running
  std::jthread thread;

  // When the next flight may be taken; the greatest of all times if none is there.
  Clock::time_point next_due() const {
    auto due = Clock::time_point::max();
    for (const auto& flight : queued) due = std::min(due, flight->not_before);
    return due;
  }

  // With the lock held: waits until a flight may be taken. False: stopped.
  bool wait_for_flight(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto due = next_due();
      if (due <= Clock::now()) return true;
      const auto sooner = [&] { return next_due() < due; };
      if (queued.empty())
        changed.wait(lock, stop, sooner);
      else
        changed.wait_until(lock, stop, due, sooner);
    }
    return false;
  }

  // The oldest flight of the client that was served least: a client with a thousand shapes does not
  // keep one with a single shape waiting.
  std::shared_ptr<Flight> take() {
    const auto now = Clock::now();
    auto next = queued.end();
    for (auto one = queued.begin(); one != queued.end(); ++one) {
      if ((*one)->not_before > now) continue;
      if (next == queued.end() || served[(*one)->client] < served[(*next)->client]) next = one;
    }
    std::shared_ptr<Flight> flight = *next;
    queued.erase(next);
    // Whom nobody waits behind need not be remembered.
    if (queued.empty()) served.clear();
    ++served[flight->client];
    return flight;
  }

  // Calls `call` with each waiter of the flight, without the lock but not beside remove().
  template <typename Call>
  void each_waiter(const std::shared_ptr<Flight>& flight, bool last, Call call) {
    std::unique_lock lock(mutex);
    if (last) running.reset();  // whoever asks from now on begins anew
    const std::map<WaiterId, Waiter> waiters = last ? std::move(flight->waiters) : flight->waiters;
    calling_back = true;
    lock.unlock();
    for (const auto& [id, waiter] : waiters) call(waiter);
    lock.lock();
    calling_back = false;
    lock.unlock();
    changed.notify_all();
  }

  // Another process tunes the key: the flight waits its turn without the thread.
  void put_back(const std::shared_ptr<Flight>& flight) {
    const std::lock_guard lock(mutex);
    running.reset();
    --served[flight->client];
    flight->request.was_elsewhere = true;
    flight->not_before = Clock::now() + look_again_every;
    queued.push_back(flight);
  }

  void serve(std::stop_token stop) {
    while (true) {
      std::unique_lock lock(mutex);
      if (!wait_for_flight(lock, stop)) return;
      running = take();
      const std::shared_ptr<Flight> flight = running;
      lock.unlock();
      const auto progress = [&](const TuneProgress& now) {
        each_waiter(flight, false, [&](const Waiter& waiter) {
          if (waiter.progress) waiter.progress(now);
        });
      };
      TuneRequest request = flight->request;
      request.tuning_thread = std::this_thread::get_id();
      Result<std::optional<Tuning>> tuned = tune(request, progress, stop);
      if (tuned && !*tuned) {
        put_back(flight);
        continue;
      }
      const Result<Tuning> tuning =
          tuned ? Result<Tuning>(std::move(**tuned)) : fail(std::move(tuned.error()));
      each_waiter(flight, true, [&](const Waiter& waiter) {
        if (waiter.finished) waiter.finished(tuning);
      });
    }
  }
};

TuningQueue::TuningQueue(TuneFunction tune, int queue_max) : state_(std::make_unique<State>()) {
  state_->tune = std::move(tune);
  state_->queue_max = queue_max;
  state_->thread =
      std::jthread([state = state_.get()](std::stop_token stop) { state->serve(stop); });
}

TuningQueue::~TuningQueue() {
  state_->thread.request_stop();
  state_->thread.join();
  // Nobody is left to tune: what was queued is answered here.
  const Result<Tuning> stopping =
      fail(ErrorCode::unavailable, "stopping; the tuning was not begun");
  for (const auto& flight : state_->queued) {
    for (const auto& [id, waiter] : flight->waiters) {
      if (waiter.finished) waiter.finished(stopping);
    }
  }
}

Result<TuningQueue::Ticket> TuningQueue::submit(const std::string& key_text,
                                                const TuneRequest& request,
                                                const std::string& client, Waiter waiter) {
  Ticket ticket;
  {
    const std::lock_guard lock(state_->mutex);
    std::shared_ptr<State::Flight> flight;
    if (state_->running != nullptr && state_->running->key_text == key_text)
      flight = state_->running;
    for (const auto& queued : state_->queued) {
      if (queued->key_text == key_text) flight = queued;
    }
    ticket.joined = flight == nullptr ? Joined::started : Joined::joined;
    if (flight == nullptr) {
      if (static_cast<int>(state_->queued.size()) >= state_->queue_max) {
        return fail(
            ErrorCode::resource_exhausted,
            "the tuning queue is full (" + std::to_string(state_->queue_max) + " keys wait)");
      }
      // An idle queue has no past: nobody is ahead of anybody.
      if (state_->queued.empty() && state_->running == nullptr) state_->served.clear();
      flight = std::make_shared<State::Flight>(State::Flight{key_text, client, request, {}});
      state_->queued.push_back(flight);
    }
    ticket.waiter = ++state_->last_waiter;
    flight->waiters.emplace(ticket.waiter, std::move(waiter));
  }
  state_->changed.notify_all();
  return ticket;
}

void TuningQueue::remove(WaiterId waiter) {
  std::unique_lock lock(state_->mutex);
  if (state_->running != nullptr) state_->running->waiters.erase(waiter);
  for (const auto& flight : state_->queued) flight->waiters.erase(waiter);
  // A callback may be under way with a copy of the waiter; after it, none will come.
  state_->changed.wait(lock, [&] { return !state_->calling_back; });
}

TuningQueue::Depth TuningQueue::depth() const {
  const std::lock_guard lock(state_->mutex);
  Depth depth{.queued = static_cast<int>(state_->queued.size()),
              .running = state_->running != nullptr ? 1 : 0,
              .waiters = 0};
  for (const auto& flight : state_->queued)
    depth.waiters += static_cast<int>(flight->waiters.size());
  if (state_->running != nullptr)
    depth.waiters += static_cast<int>(state_->running->waiters.size());
  return depth;
}

}  // namespace normd
