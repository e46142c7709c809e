// NvrtcLibrary: NVIDIA's run-time compiler, opened while the program runs, so that every program
// starts on every machine and says in words what is missing. Together with nvrtc_library.cc the
// only code that sees nvrtc.h. A plain value that may be used from several threads at once: NVRTC
// keeps its state per program. The library stays open until the process ends.
#pragma once

#include <nvrtc.h>

#include <string>
#include <vector>

#include "kernels/error.h"

namespace normd {

struct NvrtcLibrary {
  std::string path;  // the file that was opened
  int major = 0;
  int minor = 0;
  std::vector<int> architectures;  // compute capabilities times ten, ascending

  // NVRTC's functions, under their own names without the prefix.
  decltype(&nvrtcGetErrorString) get_error_string = nullptr;
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) get_num_supported_archs = nullptr;
  decltype(&nvrtcGetSupportedArchs) get_supported_archs = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetProgramLogSize) get_program_log_size = nullptr;
  decltype(&nvrtcGetProgramLog) get_program_log = nullptr;
  decltype(&nvrtcGetCUBINSize) get_cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) get_cubin = nullptr;
  decltype(&nvrtcGetPTXSize) get_ptx_size = nullptr;
  decltype(&nvrtcGetPTX) get_ptx = nullptr;

  std::string name() const;               // "NVRTC 13.0"
  std::string description() const;        // "NVRTC 13.0 (/usr/lib/libnvrtc.so.13)"
  std::string architecture_list() const;  // "sm_75, sm_80, ..."
};

// Where it is looked for, first to last, each place under the names libnvrtc.so.13, libnvrtc.so.12
// and libnvrtc.so: ../lib beside the running program; wherever the dynamic loader looks;
// /usr/local/cuda/lib64; the library that this program was built with. An explicit path that is not
// empty replaces the whole search. failed_precondition lists each place and what the loader said.
Result<NvrtcLibrary> open_nvrtc(const std::string& explicit_path = {});

}  // namespace normd
