#include "tuner/worker/messages.h"

#include <charconv>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {
namespace {

std::string shortest(double value) {  // reads back to the same double
  char text[32];
  const auto [end, status] = std::to_chars(text, text + sizeof text, value);
  NORMD_CHECK(status == std::errc{});
  return std::string(text, end);
}

// Reads fields one after the other and remembers the first that is missing or wrong.
class Reader {
 public:
  explicit Reader(const Frame& frame) : frame_(frame) {}

  std::string text(std::string_view name) {
    auto value = frame_.field(name);
    if (value) return *value;
    if (!error_) error_ = value.error();
    return {};
  }
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high) {
    auto value = frame_.integer(name);
    if (!value && !error_) error_ = value.error();
    if (value && (*value < low || *value > high)) wrong(name);
    return value.value_or(low);
  }
  double number(std::string_view name) {
    const auto value = parse_number(text(name));
    if (!value) wrong(name);
    return value.value_or(0);
  }
  void wrong(std::string_view name) {
    if (!error_) {
      error_ = Error{ErrorCode::invalid_argument,
                     "frame '" + frame_.verb + "': bad value of " + std::string(name),
                     std::string(name)};
    }
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Frame& frame_;
  std::optional<Error> error_;
};

}  // namespace

Frame frame_of(const Error& error) {
  return Frame{.verb = "error",
               .fields = {{"code", std::to_string(static_cast<int>(error.code))},
                          {"message", error.message},
                          {"field", error.field}},
               .body = {}};
}

Frame frame_of(const Source& source) {
  std::string options;
  for (const std::string& option : source.options) options.append(option).append("\n");
  return Frame{.verb = "compile",
               .fields = {{"entry", source.entry},
                          {"target", source.target},
                          {"digest", source.digest},
                          {"options", options}},
               .body = source.text};
}

Result<Source> source_of(const Frame& frame) {
  Reader reader(frame);
  Source source{.text = frame.body,
                .entry = reader.text("entry"),
                .target = reader.text("target"),
                .options = {},
                .digest = reader.text("digest")};
  const std::string options = reader.text("options");
  for (const std::string_view option : split(options, '\n')) {
    if (!option.empty()) source.options.emplace_back(option);
  }
  if (reader.error()) return fail(*reader.error());
  return source;
}

void put_binary(Frame& frame, const Binary& binary) {
  frame.fields["binary_format"] = std::to_string(static_cast<int>(binary.format));
  frame.fields["binary_digest"] = binary.digest;
  frame.fields["binary_source_digest"] = binary.source_digest;
  frame.fields["binary_entry"] = binary.entry;
  frame.fields["binary_target"] = binary.target;
  frame.fields["binary_compiler"] = binary.compiler;
  frame.fields["binary_registers"] = std::to_string(binary.registers);
  frame.fields["binary_spill_bytes"] = std::to_string(binary.spill_bytes);
  frame.fields["binary_log"] = binary.log;
  frame.body = binary.bytes;
}

Result<Binary> binary_of(const Frame& frame) {
  Reader reader(frame);
  Binary binary{.format = static_cast<BinaryFormat>(reader.integer("binary_format", 1, 3)),
                .bytes = frame.body,
                .digest = reader.text("binary_digest"),
                .source_digest = reader.text("binary_source_digest"),
                .entry = reader.text("binary_entry"),
                .target = reader.text("binary_target"),
                .compiler = reader.text("binary_compiler"),
                .registers = static_cast<int>(reader.integer("binary_registers", -1, 1 << 20)),
                .spill_bytes = static_cast<int>(reader.integer("binary_spill_bytes", -1, 1 << 30)),
                .log = reader.text("binary_log")};
  if (reader.error()) return fail(*reader.error());
  return binary;
}

Frame frame_of(const TrialBench::Tried& tried) {
  return Frame{.verb = "verdict",
               .fields = {{"kind", std::string(verdict_kind_name(tried.verdict.kind))},
                          {"reason", std::string(reason_name(tried.verdict.reason))},
                          {"detail", tried.verdict.detail},
                          {"error_over_bound", shortest(tried.verdict.error_over_bound)},
                          {"registers", std::to_string(tried.resources.registers)},
                          {"local_bytes", std::to_string(tried.resources.local_bytes)},
                          {"blocks_per_sm", std::to_string(tried.resources.blocks_per_sm)}},
               .body = {}};
}

Result<TrialBench::Tried> tried_of(const Frame& frame) {
  Reader reader(frame);
  const auto kind = parse_verdict_kind(reader.text("kind"));
  const auto reason = parse_reason(reader.text("reason"));
  if (!kind) reader.wrong("kind");
  if (!reason) reader.wrong("reason");
  TrialBench::Tried tried;
  tried.verdict = {.kind = kind.value_or(VerdictKind::not_tried),
                   .reason = reason.value_or(Reason::none),
                   .detail = reader.text("detail"),
                   .measurements = {},
                   .error_over_bound = reader.number("error_over_bound")};
  constexpr std::int64_t most = std::int64_t{1} << 30;
  tried.resources = {.registers = static_cast<int>(reader.integer("registers", -1, most)),
                     .local_bytes = static_cast<int>(reader.integer("local_bytes", -1, most)),
                     .blocks_per_sm = static_cast<int>(reader.integer("blocks_per_sm", 0, most))};
  if (reader.error()) return fail(*reader.error());
  return tried;
}

Frame frame_of(const TrialBench::Samples& samples) {
  const DeviceCondition& condition = samples.condition;
  return Frame{.verb = "samples",
               .fields = {{"ns", join(samples.ns)},
                          {"sm_clock_mhz", std::to_string(condition.sm_clock_mhz)},
                          {"memory_clock_mhz", std::to_string(condition.memory_clock_mhz)},
                          {"held_back", condition.held_back}},
               .body = {}};
}

Result<TrialBench::Samples> samples_of(const Frame& frame) {
  Reader reader(frame);
  auto ns = parse_doubles(reader.text("ns"));
  if (!ns) reader.wrong("ns");
  constexpr std::int64_t most = 1 << 20;
  TrialBench::Samples samples;
  samples.condition = {
      .sm_clock_mhz = static_cast<int>(reader.integer("sm_clock_mhz", 0, most)),
      .memory_clock_mhz = static_cast<int>(reader.integer("memory_clock_mhz", 0, most)),
      .held_back = reader.text("held_back")};
  if (reader.error()) return fail(*reader.error());
  samples.ns = std::move(*ns);
  return samples;
}

Result<Frame> expect(Result<Frame> answer, std::string_view verb) {
  if (!answer || answer->verb == verb) return answer;
  if (answer->verb != "error") {
    return fail(ErrorCode::internal,
                "the worker answered '" + answer->verb + "', expected '" + std::string(verb) + "'");
  }
  Reader reader(*answer);
  const auto code = reader.integer("code", 0, static_cast<int>(ErrorCode::internal));
  return fail(static_cast<ErrorCode>(code), reader.text("message"), reader.text("field"));
}

std::string join(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

std::string to_text(const std::vector<MeasuredEdge>& edges) {
  std::string text;
  for (const MeasuredEdge& edge : edges) {
    if (!text.empty()) text += ',';
    text += std::to_string(edge.rows);
    text += ':';
    text += cache_state_name(edge.cache);
  }
  return text;
}

std::string join(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    if (!text.empty()) text += ',';
    text += shortest(number);
  }
  return text;
}

namespace {

template <typename Value, typename Parse>
Result<std::vector<Value>> parse_list(std::string_view text, Parse parse) {
  std::vector<Value> values;
  if (text.empty()) return values;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<Value> value = parse(part);
    if (!value)
      return fail(ErrorCode::invalid_argument, "not a list of its kind: " + std::string(text));
    values.push_back(*value);
  }
  return values;
}

std::optional<MeasuredEdge> parse_edge(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto rows = parse_integer(parts[0]);
  const auto cache = parse_cache_state(parts[1]);
  if (!rows || *rows < 1 || !cache) return std::nullopt;
  return MeasuredEdge{.rows = *rows, .cache = *cache};
}

}  // namespace

Result<std::vector<MeasuredEdge>> parse_edges(std::string_view text) {
  return parse_list<MeasuredEdge>(text, parse_edge);
}
Result<std::vector<std::int64_t>> parse_numbers(std::string_view text) {
  return parse_list<std::int64_t>(text, parse_integer);
}
Result<std::vector<double>> parse_doubles(std::string_view text) {
  return parse_list<double>(text, parse_number);
}

}  // namespace normd
