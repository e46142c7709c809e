// Compiling a Source for a GPU by NVRTC. Pure functions around an open library (nvrtc_library.h):
// no device is touched, no header is read, no file written. Safe from several threads at once.
#pragma once

#include "kernels/error.h"
#include "kernels/source.h"
#include "tuner/binary.h"
#include "tuner/compiler/nvrtc_library.h"

namespace normd {

// What NVRTC is asked to make for a target.
struct NvrtcTarget {
  BinaryFormat format = BinaryFormat::cubin;
  std::string architecture;  // "sm_90", or "compute_120" for PTX
  std::string note;          // one line for the log when it is not the target itself
};

// A target that NVRTC lists becomes a cubin for exactly that; "compute_120" becomes PTX; one that
// it does not know, but that has an older architecture in the list, becomes PTX of the newest such.
// Targets older than the whole list are failed_precondition, malformed ones invalid_argument.
Result<NvrtcTarget> nvrtc_target(const NvrtcLibrary& library, const std::string& target);

// What a failed compilation is, by what NVRTC returned and logged. invalid_argument: it names what
// is wrong with the text. internal: it stumbled over it. failed_precondition: anything else.
ErrorCode nvrtc_error_code(nvrtcResult result, std::string_view log);

// Errors as in compiler.h.
Result<Binary> compile_with_nvrtc(const NvrtcLibrary& library, const Source& source);

// What ptxas printed about the kernel under its option -v.
struct PtxasReport {
  int registers = -1;    // of the hungriest entry
  int spill_bytes = -1;  // stores or loads, whichever is more, over all functions
};
PtxasReport parse_ptxas_report(std::string_view log);

}  // namespace normd
