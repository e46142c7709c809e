#include "service/daemon/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <nlohmann/json.hpp>

namespace normd {

struct Log::Sink {
  spdlog::logger logger;
  LogFormat format;
};

namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::string render(LogFormat format, std::string_view event,
                   std::initializer_list<LogField> fields) {
  if (format == LogFormat::text) {
    std::string line(event);
    for (const LogField& field : fields) line.append(" ").append(log_text(field));
    return line;
  }
  // The pattern has written time and level as the first two members of the object.
  nlohmann::ordered_json object;
  object["event"] = std::string(event);
  for (const LogField& field : fields) object[field.name] = field.value;
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(1);
}

}  // namespace

Log::Log(LogLevel level, LogFormat format)
    : sink_(new Sink{spdlog::logger("normd", std::make_shared<spdlog::sinks::stderr_sink_mt>()),
                     format}) {
  sink_->logger.set_level(spdlog_level(level));
  sink_->logger.flush_on(spdlog::level::debug);
  sink_->logger.set_pattern(format == LogFormat::text
                                ? "%Y-%m-%dT%H:%M:%S.%e %l %v"
                                : R"({"time":"%Y-%m-%dT%H:%M:%S.%e","level":"%l",%v)");
}

Log::~Log() = default;

void Log::debug(std::string_view event, std::initializer_list<LogField> fields) const {
  if (sink_->logger.should_log(spdlog::level::debug)) {
    sink_->logger.debug("{}", render(sink_->format, event, fields));
  }
}

void Log::info(std::string_view event, std::initializer_list<LogField> fields) const {
  sink_->logger.info("{}", render(sink_->format, event, fields));
}

void Log::warning(std::string_view event, std::initializer_list<LogField> fields) const {
  sink_->logger.warn("{}", render(sink_->format, event, fields));
}

void Log::error(std::string_view event, std::initializer_list<LogField> fields) const {
  sink_->logger.error("{}", render(sink_->format, event, fields));
}

std::string log_text(const LogField& field) {
  const bool plain = !field.value.empty() &&
                     field.value.find_first_of(" \"\\=") == std::string::npos &&
                     std::all_of(field.value.begin(), field.value.end(),
                                 [](char byte) { return byte > 0x20 && byte < 0x7f; });
  if (plain) return field.name + "=" + field.value;
  return field.name + "=" +
         nlohmann::json(field.value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace normd
