// The catalog rows of the templates that keep a row in registers and of the tiled one for rows that
// no block can keep, all of grade exact. Constant data and pure functions; any thread.
#pragma once

#include "kernels/template.h"

namespace normd {

Template sub_warp_template();
Template block_registers_template();
Template block_tiled_template();

}  // namespace normd
