// Key and Fingerprint: what a stored decision is for, and what it is valid for. One function makes
// each; a golden test pins their texts. Compiler, driver, device name and ordinal are no part of
// either. Plain values; any thread.
#pragma once

#include <string>
#include <string_view>

#include "kernels/device_spec.h"
#include "kernels/error.h"
#include "kernels/problem.h"
#include "kernels/row_bucket.h"

namespace normd {

// Raised when the measuring protocol changes so much that older figures say nothing.
inline constexpr int measuring_protocol_version = 1;

// Silicon and measuring protocol. Power limits and MIG slices change what a winner is worth, so
// their class is in it: watts rounded to 50, or 0 where unknown; mig is "none" or the profile.
struct Fingerprint {
  DeviceKind kind = DeviceKind::cuda;
  int capability = 0;
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  int memory_bus_bits = 0;
  std::string mig = "none";
  int power_class_w = 0;
  int protocol = measuring_protocol_version;

  bool operator==(const Fingerprint&) const = default;
};

Fingerprint make_fingerprint(const DeviceSpec& spec, std::string_view mig = "none",
                             int power_limit_w = 0);
std::string to_text(const Fingerprint& fingerprint);
Result<Fingerprint> parse_fingerprint(std::string_view text);

// A Problem with its rows replaced by a RowBucket, the bucket mode, and the Fingerprint.
struct Key {
  Problem problem;  // rows is 0: replaced by the bucket
  RowBucket bucket;
  BucketMode mode = BucketMode::bucketed;
  Fingerprint fingerprint;

  bool operator==(const Key&) const = default;
};

Key make_key(const Problem& problem, const DeviceSpec& spec, const Fingerprint& fingerprint,
             BucketMode mode);

// The key's own problem at one of the bucket's row counts.
Problem problem_at(const Key& key, std::int64_t rows);

// `layer_norm rows=133..264 columns=8192 ... align_bytes=16 mode=bucketed on cuda cc=90 sm=132 ...`
std::string to_text(const Key& key);
Result<Key> parse_key(std::string_view text);

}  // namespace normd
