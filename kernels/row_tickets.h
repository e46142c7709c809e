// Rows by ticket: the host's side of templates/row_tickets.cuh, for templates whose blocks stay.
// Pure functions; any thread.
#pragma once

#include <cstdint>

namespace normd {

// Of a launch's workspace: RowTickets::bytes_max.
inline constexpr std::int64_t tickets_bytes = 64;

// They pay where groups have many turns, and only cost where they have few; between, either may.
inline bool tickets_pay(bool tickets, std::int64_t rows, double rows_at_once) {
  const double turns = static_cast<double>(rows) / rows_at_once;
  return tickets ? turns >= 6 : turns <= 12;
}

}  // namespace normd
