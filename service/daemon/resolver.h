// Resolver: from a request's problem to the kernel that answers it, on one device. Memory first,
// then the store, then what the policy says. resolve() and tune() may be called from any thread and
// never block: SQL and loading happen on the lookup thread, tuning on the queue's. It never
// launches.
#pragma once

#include <memory>
#include <string>

#include "service/daemon/admission.h"
#include "service/daemon/answer.h"
#include "service/daemon/cancellation.h"
#include "service/daemon/counters.h"
#include "service/daemon/kernel_loader.h"
#include "service/daemon/retunes.h"
#include "service/daemon/task_thread.h"
#include "service/daemon/tunings_behind.h"
#include "tuner/guarded.h"
#include "tuner/tuning_queue.h"

namespace normd {

struct ResolveAsk {
  Problem problem;  // at least one row
  BucketMode mode = BucketMode::bucketed;
  Policy policy = Policy::fallback;
  std::string client;  // who asks, for fairness in the tuning queue
};

struct Resolved {
  ServedKernelPointer kernel;
  Origin origin = Origin::none;
  std::string key;  // canonical text
};

class Resolver {
 public:
  struct Parts {
    Store* store = nullptr;
    ServingThread* serving = nullptr;
    TuningQueue::TuneFunction tune;
    Fingerprint fingerprint;
    std::string compiler;  // that tunings use; empty: none can be used
    Admission* admission = nullptr;
    ServingCounters* counters = nullptr;
    const Log* log = nullptr;
    std::int64_t tuning_budget_ms = 0;
  };
  explicit Resolver(Parts parts);
  ~Resolver();
  Resolver(const Resolver&) = delete;  // tasks and waiters refer to this object

  Key key_of(const Problem& problem, BucketMode mode) const;

  // `done` runs once, on this thread when memory decides and on another otherwise; never if
  // `cancellation` was cancelled while it waited for a tuning.
  using Done = std::function<void(Result<Resolved>)>;
  void resolve(ResolveAsk ask, std::shared_ptr<Cancellation> cancellation, Done done);

  // One tuning for whoever asked, at the caller's word; its winner is loaded before `finished`.
  // The waiter's callbacks run on other threads and must be short.
  Result<Joined> tune(const TuneRequest& request, const std::string& client, Waiter waiter,
                      Cancellation& cancellation);

  // The kernel failed on the device: it is not served again by this process.
  void quarantine(const Key& key, const std::string& binary_digest, const Error& error) {
    loader_.quarantine(key, binary_digest, error);
  }

  // Forgets what memory knows of a key.
  void drop(const Key& key) { cache_.drop(key); }
  // Another process changed the store: drops every loaded winner that is no longer the stored one.
  void review();
  // Loads a stored winner if there is one; blocks, and tunes nothing. For starting.
  struct Warmed {
    bool loaded = false;
    bool unusable_winner = false;  // there is one, but it cannot be served
  };
  Warmed warm(const Problem& problem, BucketMode mode);
  // Ends the running tuning; every waiter gets `unavailable`, and none is taken on.
  void stop_tuning();

  // For the watch on drift: what serves here, other work for the thread that tunes
  // (TuningQueue::run_if_idle), and a winner that takes another time than it did, in these words.
  std::vector<KernelCache::Loaded> loaded() const { return cache_.loaded(); }
  bool run_if_idle(TuningQueue::Work work);
  void drifted(const Winner& winner, const std::string& how);
  bool has_drifted(const Key& key) const { return retunes_.has_drifted(key); }

  std::size_t kernels_loaded() const { return cache_.kernels(); }
  bool in_memory(const Key& key);
  TuningQueue::Depth depth();

 private:
  // All of these on the lookup thread.
  KernelLoader::Loaded load_winner(const Key& key);
  void resolve_from_store(const Key& key, const ResolveAsk& ask,
                          const std::shared_ptr<Cancellation>& cancellation, const Done& done);
  void wait_for_tuning(const Key& key, const ResolveAsk& ask, bool again,
                       const std::shared_ptr<Cancellation>& cancellation, const Done& done);
  void answer_after_tuning(const Key& key, const Result<Tuning>& tuning, Joined joined,
                           const Done& done);
  void tune_behind(const Key& key, const ResolveAsk& ask, bool again);

  // Into the tuning queue; unavailable once that was stopped.
  Result<TuningQueue::Ticket> submit(const std::string& flight, const TuneRequest& request,
                                     const std::string& client, Waiter waiter);
  // A place among the calls that wait, for as long as it is kept.
  Result<std::shared_ptr<Admission::Hold>> admitted_waiting();
  // The answer of a key without a winner: its default's if that is there, else the fallback's.
  Resolved answer_meanwhile(const KnownMiss& miss) const;
  // What the queue runs: the tuning itself, whose default is loaded as soon as it has passed.
  Result<std::optional<Tuning>> run_tuning(const TuneRequest& request,
                                           const std::function<void(const TuneProgress&)>& progress,
                                           std::stop_token stop);
  std::shared_ptr<TuningQueue> queue() { return *queue_.lock(); }

  const Parts parts_;
  KernelCache cache_;
  KernelLoader loader_;
  TuningsBehind behind_;
  Retunes retunes_;
  Guarded<std::shared_ptr<TuningQueue>> queue_;  // null once tuning was stopped
  TaskThread lookup_;                            // last: its tasks use everything above
};

}  // namespace normd
