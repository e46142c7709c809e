// How winners and trials look: the times that stand for them, and the table of trials. Pure
// functions over messages; every text from outside leaves here escaped.
#pragma once

#include <string>
#include <vector>

#include "kernels/key.h"
#include "normd/v1/normd.pb.h"

namespace normd {

using MeasurementList = google::protobuf::RepeatedPtrField<v1::Measurement>;

// The measurement that stands for all: of the most rows, cold if there is one. Null if empty.
const v1::Measurement* headline(const MeasurementList& measurements);

std::string time_with_interval(const v1::Measurement& measurement);  // "12.4 us ±1.2 %"

// "bf16", "bf16 gamma:fp32 beta:none", "fp32 -> fp16 ...".
std::string describe_tensors(const Problem& problem);

std::string describe_device(const Fingerprint& fingerprint);  // "sm_90 132 SMs", "host"

struct TrialsView {
  std::string key;     // canonical text
  std::string winner;  // the winning candidate; empty: none
  bool bars = false;   // for a terminal
  bool color = false;
};

// Best first, then refusals: time with interval at each row count, GB/s and the share of the copy
// at the most rows, registers, shared memory, blocks per SM; or the reason. Candidates that were
// not tried are counted below the table, by reason.
std::string trials_table(std::vector<v1::Trial> trials, const TrialsView& view);

// The lines above the table: key, device, winner beside the default, where and when tuned.
std::string winner_summary(const v1::Winner& winner);

}  // namespace normd
