// The catalog rows of the teaching ladder, from one thread per row to tiles of any width: grade
// `taught`, never a winner. Constant data and pure functions; any thread.
#pragma once

#include "kernels/template.h"

namespace normd {

Template thread_three_pass_template();
Template thread_welford_template();
Template warp_welford_template();
Template block_shared_template();
Template block_two_pass_template();
Template tiled_welford_template();

}  // namespace normd
