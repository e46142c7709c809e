// What the store holds, in the messages of the protocol: the tool prints winners and trials in one
// way, wherever they come from. Pure functions.
#pragma once

#include "normd/v1/normd.pb.h"
#include "tuner/trial.h"
#include "tuner/tuner.h"

namespace normd {

v1::Measurement to_message(const Measurement& measurement);
v1::Trial to_message(const Trial& trial);
v1::Winner to_message(const Winner& winner);
v1::TuneProgress to_message(const TuneProgress& progress);

}  // namespace normd
