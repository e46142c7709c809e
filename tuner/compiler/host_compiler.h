// The host compiler: Source to Binary by the C++ compiler of this machine, for the host device. The
// compiler is run as a program, without a shell, in a private directory that is always removed
// (temporary_directory.h). The same sanitizers watch the kernel that watch this program. Plain
// functions; any thread.
#pragma once

#include <chrono>
#include <string>

#include "kernels/error.h"
#include "kernels/limits.h"
#include "kernels/source.h"
#include "tuner/binary.h"

namespace normd {

struct HostCompiler {
  std::string program;  // empty: the compiler that built this program, else c++, else g++ on PATH
  std::chrono::milliseconds limit{limits::compile_ms_max};
};

// invalid_argument: the compiler names a place in the text where it is wrong; nothing else is a
// refusal. failed_precondition: there is no compiler, and what was looked for, or it could not
// work: a tool of it is missing, the disk is full, it was killed. deadline_exceeded: over the
// limit, killed. internal: the compiler stumbled over the text.
Result<Binary> compile_with_host_compiler(const Source& source, const HostCompiler& compiler = {});

// "g++ 12.2.0", or "g++ 12.2.0 address,undefined" when sanitizers watch.
Result<std::string> host_compiler_version(const HostCompiler& compiler = {});

}  // namespace normd
