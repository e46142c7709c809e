// What normctl's exit status means; `normctl --help` says the same. Constants only.
#pragma once

#include "kernels/error.h"

namespace normd {

enum class ExitStatus : int {
  ok = 0,
  failed = 1,       // the operation was tried and failed
  usage = 2,        // the command line or an input file is wrong
  unreachable = 3,  // no daemon answers
  not_found = 4,    // the key, store, device or file that was named is not there
  mismatch = 5,     // --check: the answer is outside the bound of the reference
};

constexpr ExitStatus exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return ExitStatus::usage;
    case ErrorCode::not_found:
      return ExitStatus::not_found;
    case ErrorCode::unavailable:
      return ExitStatus::unreachable;
    default:
      return ExitStatus::failed;
  }
}

}  // namespace normd
