// The worker program: what runs in the child of a WorkerProcess. It answers frames on the
// inherited descriptor until the parent's end closes, seen by a watcher thread of its own, so that
// even a hung kernel does not outlive the parent. It compiles (verb `compile`) and runs trials
// (`open`, `prepare`, `trial`, `sample`, `drop`, `rest`); see worker_main.cc for each verb's
// fields.
#pragma once

#include "tuner/compiler/compiler.h"
#include "tuner/stop_point.h"

namespace normd {

// The descriptor number on which the parent hands the socket over.
inline constexpr int worker_descriptor = 3;

// Returns the process's exit status: 0 after the parent closed its end.
int worker_main(const StopPoint& stop_point, const CompilerPlaces& places = {});

}  // namespace normd
