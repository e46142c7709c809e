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
    std::string client;  // who caused it, or of a background flight, who joined it first
    std::string served;  // the client for whom it was begun last
    TuneRequest request;
    std::map<WaiterId, Waiter> waiters;
    Clock::time_point not_before;  // while another process tunes it

    bool in_background() const { return client == background; }
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
  Work idle_work;             // to be run, or running
  // Ends what is running on the thread if that makes way for clients: made anew for each.
  std::stop_source make_way;
  std::jthread thread;

  // When the next flight may be taken; the greatest of all times if none is there.
  Clock::time_point next_due() const {
    auto due = Clock::time_point::max();
    for (const auto& flight : queued) due = std::min(due, flight->not_before);
    return due;
  }

  // With the lock held: waits until a flight may be taken or there is idle work. False: stopped.
  bool wait_for_work(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto due = next_due();
      if (due <= Clock::now() || idle_work) return true;
      const auto sooner = [&] { return next_due() < due || idle_work; };
      if (queued.empty())
        changed.wait(lock, stop, sooner);
      else
        changed.wait_until(lock, stop, due, sooner);
    }
    return false;
  }

  // The oldest flight of the client that was served least: a client with a thousand shapes does not
  // keep one with a single shape waiting. What is in the background comes after all of them.
  std::shared_ptr<Flight> take() {
    const auto now = Clock::now();
    const auto rank = [&](const Flight& flight) {
      return std::pair(flight.in_background(), served[flight.client]);
    };
    auto next = queued.end();
    for (auto one = queued.begin(); one != queued.end(); ++one) {
      if ((*one)->not_before > now) continue;
      if (next == queued.end() || rank(**one) < rank(**next)) next = one;
    }
    std::shared_ptr<Flight> flight = *next;
    queued.erase(next);
    // Whom nobody waits behind need not be remembered.
    if (queued.empty()) served.clear();
    flight->served = flight->client;
    ++served[flight->served];
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

  // The flight waits its turn without the thread: another process tunes the key, or it made way.
  void put_back(const std::shared_ptr<Flight>& flight, bool is_elsewhere) {
    const std::lock_guard lock(mutex);
    running.reset();
    --served[flight->served];
    if (is_elsewhere) {
      flight->request.was_elsewhere = true;
      flight->not_before = Clock::now() + look_again_every;
    }
    queued.push_back(flight);
  }

  // `ends` is stopped when the flight has to make way, and with `stop`, the whole queue's.
  void fly(const std::shared_ptr<Flight>& flight, const std::stop_token& ends,
           const std::stop_token& stop) {
    const auto progress = [&](const TuneProgress& now) {
      each_waiter(flight, false, [&](const Waiter& waiter) {
        if (waiter.progress) waiter.progress(now);
      });
    };
    TuneRequest request = flight->request;
    request.tuning_thread = std::this_thread::get_id();
    Result<std::optional<Tuning>> tuned = tune(request, progress, ends);
    const bool is_elsewhere = tuned && !*tuned;
    const bool made_way = !tuned && ends.stop_requested() && !stop.stop_requested();
    if (is_elsewhere || made_way) return put_back(flight, is_elsewhere);
    const Result<Tuning> tuning =
        tuned ? Result<Tuning>(std::move(**tuned)) : fail(std::move(tuned.error()));
    each_waiter(flight, true, [&](const Waiter& waiter) {
      if (waiter.finished) waiter.finished(tuning);
    });
  }

  void serve(std::stop_token stop) {
    while (true) {
      std::unique_lock lock(mutex);
      if (!wait_for_work(lock, stop)) return;
      make_way = std::stop_source();  // of before, nobody is left to stop
      const std::stop_callback both(stop, [source = make_way]() mutable { source.request_stop(); });
      const std::stop_token ends = make_way.get_token();
      if (next_due() <= Clock::now()) {
        running = take();
        const std::shared_ptr<Flight> flight = running;
        lock.unlock();
        fly(flight, ends, stop);
        continue;
      }
      const Work work = idle_work;
      lock.unlock();
      work(ends);
      lock.lock();
      idle_work = nullptr;
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
  const bool in_background = client == background;
  std::stop_source in_the_way(std::nostopstate);
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
      const auto of_this_sort = [&](const auto& queued) {
        return queued->in_background() == in_background;
      };
      if (std::count_if(state_->queued.begin(), state_->queued.end(), of_this_sort) >=
          state_->queue_max) {
        return fail(
            ErrorCode::resource_exhausted,
            "the tuning queue is full (" + std::to_string(state_->queue_max) + " keys wait)");
      }
      // An idle queue has no past: nobody is ahead of anybody.
      if (state_->queued.empty() && state_->running == nullptr) state_->served.clear();
      flight =
          std::make_shared<State::Flight>(State::Flight{key_text, client, {}, request, {}, {}});
      state_->queued.push_back(flight);
    }
    if (!in_background && flight->in_background()) flight->client = client;
    const bool makes_way = state_->running ? state_->running->in_background() && !in_background
                                           : state_->idle_work != nullptr;
    if (makes_way) in_the_way = state_->make_way;
    ticket.waiter = ++state_->last_waiter;
    flight->waiters.emplace(ticket.waiter, std::move(waiter));
  }
  in_the_way.request_stop();
  state_->changed.notify_all();
  return ticket;
}

bool TuningQueue::run_if_idle(Work work) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->running || !state_->queued.empty() || state_->idle_work) return false;
    state_->idle_work = std::move(work);
  }
  state_->changed.notify_all();
  return true;
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
              .in_background = 0,
              .running = state_->running != nullptr ? 1 : 0,
              .waiters = 0};
  for (const auto& flight : state_->queued) {
    depth.waiters += static_cast<int>(flight->waiters.size());
    if (flight->in_background()) ++depth.in_background;
  }
  if (state_->running != nullptr)
    depth.waiters += static_cast<int>(state_->running->waiters.size());
  return depth;
}

}  // namespace normd
