// Signals without handlers: they are blocked before any thread starts, and main waits for them. For
// main only.
#pragma once

namespace normd {

// Blocks SIGTERM and SIGINT in this thread and every thread that it starts later, and ignores
// SIGPIPE: a client that goes away is an error of its write.
void block_stop_signals();

// Waits for SIGTERM or SIGINT and returns which. From then on a second one ends the process at
// once.
int wait_for_stop_signal();

// In a new process, before it becomes another program: as if nothing had been blocked.
void restore_signals();

}  // namespace normd
