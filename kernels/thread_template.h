// The template thread_rows: one thread owns whole rows of a few elements. Constant data.
#pragma once

#include "kernels/template.h"

namespace normd {

Template thread_rows_template();

}  // namespace normd
