// Texts of compilers, drivers and file systems, made fit for a status message or a string field,
// which must be UTF-8 and may not grow without bound. Pure function; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace normd {

// At most `bytes_max` bytes, cut between characters, with everything that is not UTF-8 or that ends
// a C string replaced; "..." shows that something is missing.
std::string cut_utf8(std::string_view text, std::size_t bytes_max);

}  // namespace normd
