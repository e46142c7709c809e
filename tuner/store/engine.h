// The SQLite library that this program runs with, and what an operator should know of it. Pure
// functions; any thread.
#pragma once

#include <string>

namespace normd {

std::string engine_name();  // "SQLite 3.40.1"

// A defect of this version that the store works around, in words; empty if there is none.
std::string engine_note();
// The same of any version, numbered as SQLite does: 3040001.
std::string engine_note_of(int version);

}  // namespace normd
