// Wire: translation between the messages of normd.v1 and the daemon's own types, with the
// validation of every field on the way in. An Error names the field as the protocol spells it
// ("problem.columns"). Pure functions; any thread. The tensors of Run are in run_message.h.
#pragma once

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/key.h"
#include "kernels/problem.h"
#include "normd/v1/normd.pb.h"
#include "service/daemon/answer.h"
#include "tuner/trial.h"
#include "tuner/tuner.h"

namespace normd {

// What a v1::Problem says; the device decides the alignment class, see with_alignment().
struct WireProblem {
  Problem problem;
  std::int64_t x_row_stride = 0;  // elements; columns when contiguous
};

Result<WireProblem> read_problem(const v1::Problem& message);

// The alignment class on a device: `align_bytes` of the request or, for 0, the device's widest
// access; lessened to what strides allow. The Error names "align_bytes".
Result<Problem> with_alignment(const WireProblem& wire, std::int64_t align_bytes,
                               const DeviceSpec& spec);

Result<BucketMode> read_bucket_mode(v1::BucketMode mode);
Result<Policy> read_policy(v1::Policy policy, Policy otherwise);
Result<float> read_epsilon(const v1::RunRequest& request);
Result<Key> read_key(const std::string& text);

// A text that a client sent to be looked for or shown: bounded and printable, else
// invalid_argument.
Result<void> check_text(std::string_view text, std::size_t bytes_max, const char* field);

v1::Origin write_origin(Origin origin);
v1::Measurement write_measurement(const Measurement& measurement);
v1::Trial write_trial(const Trial& trial);
v1::Winner write_winner(const Winner& winner);
v1::TuneProgress write_progress(const TuneProgress& progress);

}  // namespace normd
