// Log: the daemon's structured log on standard error, one event a line as `time level event
// name=value ...` or as JSON. One Log is made by main and passed down; any thread may write.
// It never blocks on anything but the write itself and never throws.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/error.h"

namespace normd {

enum class LogLevel { debug, info, warning, error, off };
enum class LogFormat { text, json };

// One name=value pair. Numbers and errors come as text, so that call sites stay one line each.
struct LogField {
  LogField(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, const Error& error)
      : name(field_name), value(error.message) {}
  template <typename Integer>
  requires std::is_integral_v<Integer> LogField(std::string_view field_name, Integer number)
      : name(field_name), value(std::to_string(number)) {}

  std::string name;
  std::string value;
};

class Log {
 public:
  Log(LogLevel level, LogFormat format);
  ~Log();
  Log(const Log&) = delete;  // one sink, one owner

  void debug(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void warning(std::string_view event, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view event, std::initializer_list<LogField> fields = {}) const;

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

// `name=value`, the value quoted and escaped when it has spaces, quotes or control characters, so
// that one event stays one line whatever a client or a tool wrote.
std::string log_text(const LogField& field);

}  // namespace normd
