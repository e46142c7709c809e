// Policy and Origin: what an untuned shape gets, and where an answer's kernel came from, as the
// daemon's own words for the enums of the protocol. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace normd {

enum class Policy : std::uint8_t {
  fallback = 1,  // an answer at once from the fallback kernel; tuning goes on behind
  wait = 2,      // the tuned answer, within the deadline
  fail = 3,      // failed_precondition
};

// The numbers are those of the protocol.
enum class Origin : std::uint8_t {
  memory = 1,
  store = 2,
  joined = 3,
  tuned = 4,
  standard = 5,  // `default` is a keyword; the protocol says ORIGIN_DEFAULT
  fallback = 6,
  none = 7,
};

std::string_view policy_name(Policy policy);  // fallback, wait, fail
std::optional<Policy> parse_policy(std::string_view name);
std::string_view origin_name(Origin origin);  // memory, store, joined, tuned, default, ...

}  // namespace normd
