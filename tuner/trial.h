// Trial, Verdict, Measurement, Winner: what was found out about candidates. Every trial is kept,
// with its times or the reason it was refused. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/key.h"
#include "kernels/launch.h"

namespace normd {

// Whether the buffers were in the L2 cache when the kernel began.
enum class CacheState : std::uint8_t { cold = 1, warm = 2 };

struct Measurement {
  std::int64_t rows = 0;
  CacheState cache = CacheState::cold;
  double median_ns = 0;  // of one launch
  double low_ns = 0;     // 95 % confidence interval of the median
  double high_ns = 0;
  int samples = 0;
  double copy_ns = 0;    // the control copy of the same bytes, measured beside it; 0 if not
  int sm_clock_mhz = 0;  // median over the samples; 0: unknown

  bool operator==(const Measurement&) const = default;
};

enum class VerdictKind : std::uint8_t {
  measured = 1,
  refused = 2,    // for a reason that repeats in a fresh worker; stored
  not_tried = 3,  // out of memory, device busy or lost, out of time; never stored
};

// Why a candidate was refused or not tried. The numbers are stored; never renumber.
enum class Reason : std::uint8_t {
  none = 0,
  compile_error = 1,
  compiler_fault = 2,      // the compiler died or ran out of time
  spills = 3,              // registers spilled to local memory
  load_error = 4,          // the driver refused the binary
  launch_error = 5,        // over a limit, or refused at launch
  wrong_result = 6,        // outside the bound
  unwritten_output = 7,    // poison was left in the output
  guard_overwritten = 8,   // bytes outside the buffers changed
  not_repeatable = 9,      // two runs gave different bits
  fault = 10,              // illegal access, trap: the worker's context died
  timeout = 11,            // taken for hung
  input_overwritten = 12,  // x, gamma or beta changed out of place
  out_of_memory = 20,
  device_busy = 21,
  device_lost = 22,
  out_of_budget = 23,
};

struct Verdict {
  VerdictKind kind = VerdictKind::not_tried;
  Reason reason = Reason::none;
  std::string detail;                     // the failing check's or tool's own words
  std::vector<Measurement> measurements;  // one per row count and cache state
  double error_over_bound = 0;            // largest error seen by the gate, over its bound

  bool operator==(const Verdict&) const = default;
};

struct Trial {
  Candidate candidate;
  Verdict verdict;
  std::string binary_digest;  // empty if nothing was compiled
  std::string compiler;       // the toolchain a refusal holds for
  int registers = -1;
  int spill_bytes = -1;
  int shared_bytes = 0;
  int blocks_per_sm = 0;  // occupancy, as the driver computes it; 0 unknown
  // Worker processes that found this verdict, in this tuning and earlier ones. One process may have
  // died, or have been spoilt, by something else: a refusal is believed, and the candidate not
  // tried again, from the second on.
  int sightings = 1;

  bool operator==(const Trial&) const = default;
};

struct Winner {
  Key key;
  Candidate candidate;
  Launch launch;
  std::string template_digest;  // of the template's text; a difference on reading is a miss
  std::string binary_digest;
  std::vector<Measurement> measurements;
  Candidate default_candidate;
  std::vector<Measurement> default_measurements;
  std::vector<Candidate> ties;  // indistinguishable from the winner, which came first by rule
  // Recorded, not keyed:
  std::string device_name;
  std::string device_uuid;
  std::string driver;  // "13.0 (580.159)" as the driver says
  std::string compiler;
  std::string catalog_digest;  // catalog_digest.h; empty: not known
  std::string tuned_by;        // program and version
  std::int64_t tuned_at_unix_s = 0;
  std::int64_t tuning_ms = 0;
  bool pinned = false;

  bool operator==(const Winner&) const = default;
};

// Whether a verdict says something of the candidate that needs no second look.
bool is_settled(const Trial& trial);
// Whether the gate saw wrong bytes: what another candidate may have left behind, so that the same
// one is tried again at once in a new process.
bool is_by_bytes(const Verdict& verdict);

std::string_view reason_name(Reason reason);
std::string_view verdict_kind_name(VerdictKind kind);
std::string_view cache_state_name(CacheState cache);
std::optional<Reason> parse_reason(std::string_view name);
std::optional<VerdictKind> parse_verdict_kind(std::string_view name);
std::optional<CacheState> parse_cache_state(std::string_view name);

// `measured 0.12` or `refused wrong_result <detail>` ... : the form in which the trial process
// sends it and the database keeps its parts. Measurements are `rows=4096 cache=cold median_ns=...`,
// with sm_clock_mhz last and only where it is known, as in texts of before there was one.
std::string to_text(const Measurement& measurement);
Result<Measurement> parse_measurement(std::string_view text);

}  // namespace normd
