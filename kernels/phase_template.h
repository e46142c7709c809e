// The catalog row of phase_aligned, for rows that do not start on 16 bytes. Constant data and pure
// functions; any thread.
#pragma once

#include "kernels/template.h"

namespace normd {

Template phase_aligned_template();

}  // namespace normd
