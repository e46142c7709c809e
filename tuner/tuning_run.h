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

#include "tuner/choice.h"
#include "tuner/compile_pool.h"
#include "tuner/race.h"
#include "tuner/trial_worker.h"
#include "tuner/tuner.h"

namespace normd {

struct TuningRunParts {
  Store* store = nullptr;
  CompilePool* pool = nullptr;
  TrialWorker* worker = nullptr;
  Lease* lease = nullptr;
  DeviceSpec spec;
  Key key;
  Grade grade = Grade::exact;
  std::vector<Candidate>
      candidates;  // in the order in which they are tried; the first is the default
  std::int64_t budget_ms = 0;
  StopPoint stop_point;
  std::function<void(const TuneProgress&)> progress;
  std::stop_token stop;
};

class TuningRun {
 public:
  explicit TuningRun(TuningRunParts parts);

  // Afterwards trials() is complete and, for grade exact, chosen() is set.
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
  };

  void lay_out();
  std::vector<int> ask_for_binaries();
  Result<void> explore();
  Result<void> take_compiled(CompilePool::Compiled compiled);
  void find_default();
  Result<void> take_binary(int number, Binary binary);
  Result<void> gate(int number);
  Result<void> time_alone(int number);
  void refuse(int number, Reason reason, std::string detail);
  Result<void> settle(int number);  // commits the trial of an entry that has its verdict
  Result<void> race();
  void choose_winner(const Race& race, const std::vector<int>& numbers);
  Error nothing_passed() const;
  std::vector<int> passed_by_loss() const;
  double loss(const Entry& entry) const;
  bool close_to_copy() const;
  bool out_of_time(double share) const;
  Result<void> stopped_or_expired();
  void report(TuneStage stage);

  TuningRunParts parts_;
  std::vector<std::int64_t> edges_;
  std::vector<Entry> entries_;
  std::map<std::string, int> by_binary_;  // digest → first entry that has it
  std::vector<double> copy_ns_;           // per edge
  std::vector<CacheState> cache_;         // per edge
  std::optional<int> default_;
  std::optional<Chosen> chosen_;
  std::string compiler_;
  std::string compiler_missing_;
  TuneProgress progress_;
  int compiles_ = 0;
  int gates_ = 0;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point renewed_ = begun_;
};

}  // namespace normd
