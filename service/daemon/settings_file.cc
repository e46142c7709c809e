#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "service/daemon/settings.h"

namespace normd {
namespace {

std::string place(const std::string& path, const toml::source_region& source) {
  return path + ":" + std::to_string(source.begin.line);
}

// One TOML value as the text that the flag would have carried; none for other types, and for text
// that no flag can carry because it would end there.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    if (text->get().find('\0') != std::string::npos) return std::nullopt;
    return text->get();
  }
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return std::string(flag->get() ? "true" : "false");
  return std::nullopt;
}

std::string_view wanted(SettingRow::Kind kind) {
  switch (kind) {
    case SettingRow::Kind::text:
      return "a string without \\u0000";
    case SettingRow::Kind::list:
      return "an array of strings without \\u0000 or of indices";
    case SettingRow::Kind::number:
      return "an integer";
    case SettingRow::Kind::flag:
      return "true or false";
  }
  return "a value";
}

bool right_type(SettingRow::Kind kind, const toml::node& node) {
  switch (kind) {
    case SettingRow::Kind::text:
      return node.is_string();
    case SettingRow::Kind::list:
      return node.is_array();
    case SettingRow::Kind::number:
      return node.is_integer();
    case SettingRow::Kind::flag:
      return node.is_boolean();
  }
  return false;
}

Result<Setting> read_setting(const SettingRow& row, const toml::node& node,
                             const std::string& where) {
  const auto wrong = [&] {
    return fail(ErrorCode::invalid_argument,
                where + ": " + std::string(row.name) + " must be " + std::string(wanted(row.kind)),
                std::string(row.name));
  };
  if (!right_type(row.kind, node)) return wrong();
  Setting setting{.where = where};
  if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list) {
      const auto text = scalar_text(item);
      if (!text) return wrong();
      setting.values.push_back(*text);
    }
  } else {
    const auto text = scalar_text(node);
    if (!text) return wrong();
    setting.values.push_back(*text);
  }
  return setting;
}

}  // namespace

Result<Settings> read_settings_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {  // which reads as an empty file
    return fail(ErrorCode::invalid_argument, "--config: " + path + " is a directory", "config");
  }
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid_argument,
                place(path, error.source()) + ": " + std::string(error.description()), "config");
  }
  Settings settings;
  for (const auto& [key, node] : table) {
    const std::string where = place(path, node.source());
    const auto& rows = setting_rows();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SettingRow& candidate) {
      return candidate.name == key.str();
    });
    if (row == rows.end()) {
      return fail(ErrorCode::invalid_argument,
                  where + ": there is no setting '" + std::string(key.str()) + "'", "config");
    }
    auto setting = read_setting(*row, node, where);
    if (!setting) return fail(std::move(setting.error()));
    settings[std::string(row->name)] = std::move(*setting);
  }
  return settings;
}

}  // namespace normd
