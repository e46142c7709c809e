#include "service/daemon/config.h"

#include <algorithm>

#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::size_t socket_path_bytes_max = 107;  // sun_path holds 108 with its end

// Reads settings into a Config and collects every complaint.
class ConfigReader {
 public:
  explicit ConfigReader(const Settings& settings) : settings_(settings) {}

  std::string text(std::string_view name) const {
    const Setting* setting = find(name);
    return setting == nullptr ? std::string() : setting->values.back();
  }

  bool flag(std::string_view name) const { return text(name) == "true"; }

  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t most) {
    return number_if_given(name, 1, most).value_or(otherwise);
  }

  std::optional<std::int64_t> number_if_given(std::string_view name, std::int64_t least,
                                              std::int64_t most) {
    const Setting* setting = find(name);
    if (setting == nullptr) return std::nullopt;
    const auto value = parse_integer(setting->values.back());
    if (value && *value >= least && *value <= most) return value;
    complain(name, "must be " + std::to_string(least) + " to " + std::to_string(most) + ", not '" +
                       text(name) + "'");
    return std::nullopt;
  }

  // One of a few words, read by `parse`.
  template <typename Value>
  Value choice(std::string_view name, Value otherwise,
               std::optional<Value> (*parse)(std::string_view), std::string_view words) {
    if (find(name) == nullptr) return otherwise;
    const auto value = parse(text(name));
    if (!value) complain(name, "must be " + std::string(words) + ", not '" + text(name) + "'");
    return value.value_or(otherwise);
  }

  std::vector<std::string> list(std::string_view name) const {
    const Setting* setting = find(name);
    return setting == nullptr ? std::vector<std::string>() : setting->values;
  }

  void complain(std::string_view name, const std::string& what) {
    if (!complaints_.empty()) complaints_ += "; ";
    complaints_ += place(name) + " " + what;
    if (field_.empty()) field_ = std::string(name);
  }

  Result<Config> finish(Config config) {
    if (complaints_.empty()) return config;
    return fail(ErrorCode::invalid_argument, complaints_, field_);
  }

 private:
  const Setting* find(std::string_view name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() || found->second.values.empty() ? nullptr : &found->second;
  }

  // "--policy", or "/etc/normd.toml:3: policy".
  std::string place(std::string_view name) const {
    const Setting* setting = find(name);
    if (setting == nullptr) return std::string(name);
    if (setting->where.starts_with("--")) return setting->where;
    return setting->where + ": " + std::string(name);
  }

  const Settings& settings_;
  std::string complaints_;
  std::string field_;
};

std::optional<LogLevel> parse_log_level(std::string_view name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "info") return LogLevel::info;
  if (name == "warning") return LogLevel::warning;
  if (name == "error") return LogLevel::error;
  if (name == "off") return LogLevel::off;
  return std::nullopt;
}

std::optional<LogFormat> parse_log_format(std::string_view name) {
  if (name == "text") return LogFormat::text;
  if (name == "json") return LogFormat::json;
  return std::nullopt;
}

// "127.0.0.1:7000", "localhost:0", "[::1]:7000". Anything but loopback is refused: the protocol is
// neither encrypted nor authenticated on TCP.
std::optional<ListenAddress> read_listen(ConfigReader& reader) {
  const std::string text = reader.text("listen");
  if (text.empty()) return std::nullopt;
  const std::size_t colon = text.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : parse_integer(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    reader.complain("listen", "must be HOST:PORT with a port of 0 to 65535, not '" + text + "'");
    return std::nullopt;
  }
  std::string host = text.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host == "[::1]") host = "::1";
  if (host != "127.0.0.1" && host != "::1") {
    reader.complain("listen", "must be a loopback address (127.0.0.1, [::1] or localhost), not '" +
                                  text.substr(0, colon) +
                                  "': TCP is neither encrypted nor authenticated");
    return std::nullopt;
  }
  return ListenAddress{host, static_cast<int>(*port)};
}

void check_devices(ConfigReader& reader, const std::vector<std::string>& devices) {
  for (const std::string& name : devices) {
    if (std::count(devices.begin(), devices.end(), name) > 1) {
      reader.complain("devices", "names '" + name + "' more than once");
      return;
    }
    if (name.empty()) reader.complain("devices", "has an empty name");
  }
}

void check_socket(ConfigReader& reader, const Place& socket) {
  // The complaint names whoever chose the path, which need not be a flag.
  const std::string chosen = socket.from == "--socket" ? "" : " (from " + socket.from + ")";
  if (socket.path.size() > socket_path_bytes_max) {
    reader.complain("socket", "has " + std::to_string(socket.path.size()) +
                                  " bytes; a Unix socket path holds " +
                                  std::to_string(socket_path_bytes_max) + ": '" + socket.path +
                                  "'" + chosen);
  }
}

}  // namespace

Result<Config> make_config(const Settings& settings, const PlaceVariables& variables) {
  ConfigReader reader(settings);
  Config config;
  config.socket = socket_places(reader.text("socket"), variables).front();
  check_socket(reader, config.socket);
  config.store = store_place(reader.text("store"), variables);
  config.listen = read_listen(reader);
  config.devices = reader.list("devices");
  check_devices(reader, config.devices);
  config.nvrtc_library = reader.text("nvrtc");
  config.warm_file = reader.text("warm");
  config.policy = reader.choice("policy", config.policy, parse_policy, "fallback, wait or fail");
  config.tuning_budget_ms =
      reader.number("tuning_budget_ms", config.tuning_budget_ms, limits::tuning_budget_ms_max);
  config.drift_check_s = reader.number_if_given("drift_check_s", 0, limits::drift_check_s_max);
  config.compile_workers = static_cast<int>(
      reader.number("compile_workers", config.compile_workers, compile_workers_max));
  config.supervise = reader.flag("supervise");
  config.reflection = reader.flag("reflection");
  config.log_level = reader.choice("log_level", config.log_level, parse_log_level,
                                   "debug, info, warning, error or off");
  config.log_format =
      reader.choice("log_format", config.log_format, parse_log_format, "text or json");
  return reader.finish(std::move(config));
}

Settings merged(const Settings& flags, const Settings& file) {
  Settings both = flags;
  both.insert(file.begin(), file.end());
  return both;
}

}  // namespace normd
