// Template: one kernel text plus everything the tuner must know of it, as one row of the catalog
// (catalog.h). The engine names no template; adding one is one .cuh, one row, one test.
// Constant data and pure functions; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/launch.h"
#include "kernels/problem.h"

namespace normd {

// exact: within the bounds of tolerance.h on every kind of data; only these may win or be served
// unasked. taught: a textbook algorithm, kept for study; never a winner.
enum class Grade : std::uint8_t { exact = 1, taught = 2 };

// What the cost model needs to know of a candidate's way to work.
struct Plan {
  int registers = 32;                // per thread, estimated
  double bytes_in_flight = 0;        // that one block asks for before it first waits
  double chain_cycles = 0;           // of the dependent steps of one block, without memory latency
  double memory_trips = 1;           // waits for memory, one after the other, of one block
  double element_instructions = 12;  // issued per element of x
  double independent = 1;            // parts of a block that do not wait for each other
};

// For templates of which every candidate pays for any number of rows.
bool always_pays(const Candidate&, const Problem&, const DeviceSpec&);

struct Template {
  std::string_view name;
  std::string_view summary;  // one sentence: who owns a row, what it is for
  std::string_view text;     // the embedded .cuh
  Grade grade;
  // The axes and their values that make sense for this problem and device, in a fixed order.
  std::vector<Axis> (*axes)(const Problem&, const DeviceSpec&);
  // Whether this combination of axis values can run. Axis values come from axes().
  bool (*fits)(const Candidate&, const Problem&, const DeviceSpec&);
  // Must not depend on problem.rows: a winner serves its whole bucket.
  Launch (*launch)(const Candidate&, const Problem&, const DeviceSpec&);
  Plan (*plan)(const Candidate&, const Problem&, const DeviceSpec&);
  // Whether no other value of an axis is known to be better for problem.rows. What does not pay for
  // any row count that a tuning measures is not tried.
  bool (*pays)(const Candidate&, const Problem&, const DeviceSpec&) = always_pays;
  // Bytes that cross the memory bus at the least, by the plan of the text.
  double (*bytes_moved)(const Problem&);
  // Values that one thread adds in sequence; widens the bound of a taught template.
  std::int64_t (*sequential_adds)(const Candidate&, const Problem&);
};

std::string_view grade_name(Grade grade);

// Of the exact templates, whose sums are of deviations.
std::int64_t no_sequential_adds(const Candidate&, const Problem&);

}  // namespace normd
