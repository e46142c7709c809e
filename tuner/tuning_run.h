// TuningRun: one tuning of one key, from the list of candidates to the chosen one. It compiles
// ahead, gates and times each candidate as its binary comes, then races the best. Every result is
// committed as it happens. One thread; lives as long as one Tuner::tune call.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernels/limits.h"
#include "tuner/choice.h"
#include "tuner/compile_pool.h"
#include "tuner/race.h"
#include "tuner/trial_worker.h"
#include "tuner/tuner.h"
#include "tuner/tuning_budget.h"

namespace normd {

struct TuningRunParts {
  Store* store = nullptr;
  CompilePool* pool = nullptr;
  TrialWorker* worker = nullptr;
  Lease* lease = nullptr;
  DeviceSpec spec;
  Key key;
  Grade grade = Grade::exact;
  std::vector<Candidate> candidates;  // in rank: the first that passes is the default
  std::vector<int> order;             // their numbers, as they are tried
  std::int64_t budget_ms = 0;
  bool everything = false;  // no end before the budget's
  StopPoint stop_point;
  std::function<void(const TuneProgress&)> progress;
  std::stop_token stop;
};

class TuningRun {
 public:
  explicit TuningRun(TuningRunParts parts);

  // Afterwards trials() is complete and, for grade exact, chosen() is set. unavailable: stopped,
  // taken over, or the device was busy. What went wrong with the tuning itself is another code:
  // trying again at once would end alike.
  Result<void> run();

  struct Chosen {
    Trial trial;
    Launch launch;
    Trial by_default;
    std::vector<Candidate> ties;
  };
  const std::optional<Chosen>& chosen() const { return chosen_; }
  std::vector<Trial> trials() const;  // best first, then refusals
  std::vector<Trial> raced() const;   // those whose measurements come from the race
  const std::string& compiler() const { return compiler_; }
  int compiles() const { return compiles_; }
  int gates() const { return gates_; }
  int refusals() const { return progress_.refused; }
  int rounds_kept() const { return progress_.rounds_kept; }
  int rounds_discarded() const { return progress_.rounds_discarded; }
  // Another process has the lease now; its winner will be in the store.
  bool taken_over() const { return taken_over_.has_value(); }

 private:
  struct Entry {
    Candidate candidate;
    Launch launch;
    Source source;
    Trial trial;
    std::optional<Binary> binary;
    bool done = false;           // has its verdict
    bool passed_before = false;  // the gate's result came from the store
    bool raced = false;
    std::optional<Reason> seen_before;  // a refusal of an earlier tuning that was not settled
    int sightings_before = 0;
    std::optional<int> same_as;       // an earlier candidate with the same binary
    std::vector<double> explored_ns;  // per edge; empty until timed
    double sampling_ms = 0;           // wall time of one sample at each edge
  };
  using Clock = std::chrono::steady_clock;

  void lay_out();
  Result<void> prepare();
  Result<void> measure_copies();
  std::vector<int> ask_for_binaries();
  Result<void> explore();
  bool explored_enough();
  Result<void> take_compiled(CompilePool::Compiled compiled);
  void find_default(bool in_rank);
  Result<void> take_binary(int number, Binary binary);
  Result<void> gate(int number);
  Result<void> time_alone(int number);

  // In tuning_trials.cc.
  bool close_to_copy() const;  // so that no candidate would be much better
  void refuse(int number, Reason reason, std::string detail);
  void give_up(int number, const TuningBudget::Limit& limit);  // it says nothing of the candidate
  Result<void> settle(int number);  // commits the trial of an entry that has its verdict
  Trial trial_of(const Entry& entry) const;
  Error nothing_passed() const;
  Error worker_failed(Error error);

  // In tuning_race.cc.
  Result<void> race();
  std::vector<int> finalists(Clock::time_point race_end) const;
  Result<Race::Sampled> sample_racers(const std::vector<int>& numbers, std::size_t edge,
                                      const TuningBudget::Limit& limit);
  Result<Race::Sampled> sample_one_by_one(const std::vector<int>& numbers, std::size_t edge,
                                          const TuningBudget::Limit& limit);
  void report_rounds(const Race& race);
  void choose_winner(const Race& race, const std::vector<int>& numbers, bool decides);
  std::vector<int> passed_by_loss() const;
  double loss(const Entry& entry) const;

  Entry& entry_of(int number) { return entries_[static_cast<std::size_t>(number)]; }
  const Entry& entry_of(int number) const { return entries_[static_cast<std::size_t>(number)]; }
  bool passed(int number) const {
    return entry_of(number).trial.verdict.kind == VerdictKind::measured;
  }
  Result<void> stopped_or_expired();
  Result<void> keep_lease();
  void report(TuneStage stage);

  TuningRunParts parts_;
  TuningBudget budget_;
  CompilePool::Batch batch_;
  std::vector<MeasuredEdge> edges_;
  std::vector<Entry> entries_;
  std::map<std::string, int> by_binary_;                      // digest → first entry that has it
  std::vector<double> copy_ns_;                               // per edge
  std::chrono::milliseconds patience_{limits::trial_ms_max};  // with one trial
  bool one_by_one_ = false;  // the worker died in the race: next time it is known over whom
  std::optional<Error> taken_over_;
  std::optional<int> default_;
  std::optional<Chosen> chosen_;
  std::string compiler_;
  std::string compiler_missing_;
  TuneProgress progress_;
  int compiles_ = 0;
  int gates_ = 0;
  Clock::time_point renewed_ = Clock::now();
};

}  // namespace normd
