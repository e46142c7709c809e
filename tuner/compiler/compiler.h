// Compiling: Source to Binary, by NVRTC for a GPU (nvrtc_compiler.h) or by the host's C++ compiler
// (host_compiler.h). Neither touches a device. A compile may take a minute, crash or leak: the
// daemon never compiles in its own process, it asks a worker (tuner/worker).
// Safe from several threads at once.
#pragma once

#include <string>

#include "kernels/error.h"
#include "kernels/source.h"
#include "tuner/binary.h"

namespace normd {

// Where a compiler is looked for when not in its usual places; main fills it in.
struct CompilerPlaces {
  std::string nvrtc_library;  // the file to open; empty: the search of nvrtc_library.h
};

// The compiler's refusal of the text is invalid_argument, with its log as the message: it is stored
// for ever, so nothing else is. A compiler that cannot be used, or not now (library or builtins
// missing, too old for the target, no memory, a full disk), is failed_precondition; one that
// stumbled over the text, internal. A target newer than NVRTC knows becomes PTX of its newest.
Result<Binary> compile(const Source& source, const CompilerPlaces& places = {});

// "NVRTC 13.0" or "g++ 12.2.0", for `target`; the toolchain that a stored refusal holds for.
// failed_precondition says what is missing and where it was looked for.
Result<std::string> compiler_version(const std::string& target, const CompilerPlaces& places = {});

}  // namespace normd
