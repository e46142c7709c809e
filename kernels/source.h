// Source: the text that a compiler gets, with its entry name, target and options. It depends on the
// candidate, the problem (without its rows) and the architecture, and on nothing else; its digest
// names it in the store. Plain value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/candidate.h"
#include "kernels/device_spec.h"
#include "kernels/problem.h"

namespace normd {

struct Source {
  std::string text;                  // complete: no include is left in it
  std::string entry;                 // the kernel's unmangled name
  std::string target;                // "sm_90", or "host"
  std::vector<std::string> options;  // besides those that name the target
  std::string digest;                // SHA-256 over all of the above, in hex
};

// The entry is normd_kernel.
Source render(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec);
Source render_any_columns(std::string_view target);    // entry normd_any_columns
Source render_check_rows(std::string_view target);     // entry normd_check_rows
Source render_compare_bytes(std::string_view target);  // entry normd_compare_bytes

// The digest of a template's own text with the pieces it includes: stored with a winner, and a
// difference on reading is a miss.
std::string template_digest(std::string_view template_name);

}  // namespace normd
