#include "kernels/key.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::string_view separator = " on ";

int read_int(FieldReader& reader, std::string_view name) {
  const std::int64_t value = reader.integer(name);
  if (value < 0 || value > 2147483647) reader.reject(name, "a value in range");
  return static_cast<int>(value);
}

// The text of a problem with the value of its rows field put in place of the number.
std::string replace_rows(std::string_view problem_text, std::string_view rows) {
  const std::size_t begin = problem_text.find(" rows=") + 6;
  const std::size_t end = problem_text.find(' ', begin);
  return std::string(problem_text.substr(0, begin)) + std::string(rows) +
         std::string(problem_text.substr(end));
}

}  // namespace

Fingerprint make_fingerprint(const DeviceSpec& spec, std::string_view mig, int power_limit_w) {
  return Fingerprint{.kind = spec.kind,
                     .capability = spec.capability,
                     .sm_count = spec.sm_count,
                     .l2_bytes = spec.l2_bytes,
                     .sm_clock_mhz = spec.sm_clock_mhz,
                     .memory_clock_mhz = spec.memory_clock_mhz,
                     .memory_bus_bits = spec.memory_bus_bits,
                     .mig = std::string(mig),
                     .power_class_w = (std::max(0, power_limit_w) + 25) / 50 * 50};
}

std::string to_text(const Fingerprint& fingerprint) {
  std::string text = fingerprint.kind == DeviceKind::host ? "host" : "cuda";
  text += " cc=" + std::to_string(fingerprint.capability);
  text += " sm=" + std::to_string(fingerprint.sm_count);
  text += " l2_bytes=" + std::to_string(fingerprint.l2_bytes);
  text += " sm_clock_mhz=" + std::to_string(fingerprint.sm_clock_mhz);
  text += " memory_clock_mhz=" + std::to_string(fingerprint.memory_clock_mhz);
  text += " bus_bits=" + std::to_string(fingerprint.memory_bus_bits);
  text += " mig=" + fingerprint.mig;
  text += " power_class_w=" + std::to_string(fingerprint.power_class_w);
  text += " protocol=" + std::to_string(fingerprint.protocol);
  return text;
}

Result<Fingerprint> parse_fingerprint(std::string_view text) {
  FieldReader reader(text);
  Fingerprint fingerprint;
  const std::string_view kind = reader.word();
  if (kind != "cuda" && kind != "host") reader.reject("kind", "cuda or host");
  fingerprint.kind = kind == "host" ? DeviceKind::host : DeviceKind::cuda;
  fingerprint.capability = read_int(reader, "cc");
  fingerprint.sm_count = read_int(reader, "sm");
  fingerprint.l2_bytes = reader.integer("l2_bytes");
  if (fingerprint.l2_bytes < 0) reader.reject("l2_bytes", "a value in range");
  fingerprint.sm_clock_mhz = read_int(reader, "sm_clock_mhz");
  fingerprint.memory_clock_mhz = read_int(reader, "memory_clock_mhz");
  fingerprint.memory_bus_bits = read_int(reader, "bus_bits");
  fingerprint.mig = std::string(reader.value("mig"));
  if (fingerprint.mig.empty()) reader.reject("mig", "none or a profile");
  fingerprint.power_class_w = read_int(reader, "power_class_w");
  fingerprint.protocol = read_int(reader, "protocol");
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  return fingerprint;
}

Key make_key(const Problem& problem, const DeviceSpec& spec, const Fingerprint& fingerprint,
             BucketMode mode) {
  Key key{.problem = problem,
          .bucket = row_bucket(problem, spec, mode),
          .mode = mode,
          .fingerprint = fingerprint};
  key.problem.rows = 0;
  key.problem.align_bytes = std::min(problem.align_bytes, spec.vector_bytes_max);
  return key;
}

Problem problem_at(const Key& key, std::int64_t rows) {
  NORMD_CHECK(key.bucket.contains(rows));
  Problem problem = key.problem;
  problem.rows = rows;
  return problem;
}

std::string to_text(const Key& key) {
  std::string text = replace_rows(to_text(key.problem), to_text(key.bucket));
  text.append(" mode=").append(bucket_mode_name(key.mode));
  return text.append(separator).append(to_text(key.fingerprint));
}

Result<Key> parse_key(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument, "not a key: '" + std::string(text) + "'", "key");
  };
  const std::size_t on = text.find(separator);
  const std::size_t mode_at = text.find(" mode=");
  const std::size_t rows_at = text.find(" rows=");
  if (on == std::string_view::npos || mode_at > on || rows_at > mode_at) return wrong();
  const std::size_t rows_end = text.find(' ', rows_at + 6);
  if (rows_end >= mode_at) return wrong();  // the rows are never a problem's last field

  auto bucket = parse_row_bucket(text.substr(rows_at + 6, rows_end - rows_at - 6));
  if (!bucket) return fail(std::move(bucket.error()));
  auto problem = parse_problem(replace_rows(text.substr(0, mode_at), "0"));
  if (!problem) return fail(std::move(problem.error()));
  const auto mode = parse_bucket_mode(text.substr(mode_at + 6, on - mode_at - 6));
  if (!mode) return wrong();
  auto fingerprint = parse_fingerprint(text.substr(on + separator.size()));
  if (!fingerprint) return fail(std::move(fingerprint.error()));
  return Key{*problem, *bucket, *mode, *fingerprint};
}

}  // namespace normd
