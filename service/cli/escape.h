// Makes text from outside (a store, a daemon, a file name) safe to print: what could move the
// cursor, change colours, reorder or hide text is shown as an escape instead. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace normd {

// Valid UTF-8 that prints passes; control characters, marks that reorder or hide text, and bytes
// that are no UTF-8 become \n, \t, \x1b, \u202e and so on. A backslash becomes two.
std::string escaped(std::string_view text);

// Columns that `text` takes on a terminal, one for each code point. `text` must be escaped.
std::size_t display_width(std::string_view text);

}  // namespace normd
