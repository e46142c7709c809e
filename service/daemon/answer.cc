#include "service/daemon/answer.h"

#include "kernels/check.h"

namespace normd {

std::string_view policy_name(Policy policy) {
  switch (policy) {
    case Policy::fallback:
      return "fallback";
    case Policy::wait:
      return "wait";
    case Policy::fail:
      return "fail";
  }
  NORMD_CHECK(false);
}

std::optional<Policy> parse_policy(std::string_view name) {
  for (const Policy policy : {Policy::fallback, Policy::wait, Policy::fail}) {
    if (policy_name(policy) == name) return policy;
  }
  return std::nullopt;
}

std::string_view origin_name(Origin origin) {
  switch (origin) {
    case Origin::memory:
      return "memory";
    case Origin::store:
      return "store";
    case Origin::joined:
      return "joined";
    case Origin::tuned:
      return "tuned";
    case Origin::standard:
      return "default";
    case Origin::fallback:
      return "fallback";
    case Origin::none:
      return "none";
  }
  NORMD_CHECK(false);
}

}  // namespace normd
