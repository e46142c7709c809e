// CompilePool: a bounded number of worker processes that compile ahead of the one device. Sources
// go in, Binaries come out in the order in which they are ready. The compiler runs in the workers
// only, so that its crashes, leaks and endless runs cost one process; a death is a source's fault
// only in a process that had answered nothing else. Used by one thread; owns one thread per worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error.h"
#include "kernels/source.h"
#include "tuner/binary.h"
#include "tuner/worker/worker_process.h"

namespace normd {

// Half the machine's cores, 2 to 8: compiling ahead of one device needs no more, and the rest of
// the machine has work of its own.
int default_compile_workers();

class CompilePool {
  struct State;

 public:
  CompilePool(WorkerCommand worker_command, int workers);
  ~CompilePool();  // ends the workers, whatever they are doing

  struct Compiled {
    int number = 0;
    Result<Binary> binary;
  };

  // What one tuning has compiled. A number means something within its batch only, so nothing of one
  // batch is ever seen by another. Goes before the pool.
  class Batch {
   public:
    Batch(const Batch&) = delete;  // two would end the same batch
    ~Batch() { abandon(); }

    void submit(int number, Source source);
    // The next finished one; none when nothing is asked for or the time is up.
    std::optional<Compiled> next(std::chrono::steady_clock::time_point until);
    int outstanding() const;  // submitted and not yet taken
    // Drops what is not begun and lets what is begun finish unseen. Nothing can be submitted after.
    void abandon();

   private:
    friend class CompilePool;
    Batch(State& state, std::uint64_t generation) : state_(state), generation_(generation) {}

    State& state_;
    const std::uint64_t generation_;
  };

  // Whatever is left of the batch before is dropped.
  Batch begin();

  // The toolchain of a target, asked of a worker. Errors as compiler_version() in compiler.h.
  Result<std::string> compiler(const std::string& target);
  int workers_restarted() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace normd
