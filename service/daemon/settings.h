// Settings: what the command line and the configuration file said, as text with the place where it
// was said, before any of it is judged. Flags win over the file. Plain values; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/error.h"

namespace normd {

// `where` is "--devices" or "/etc/normd.toml:7", for error messages.
struct Setting {
  std::vector<std::string> values;
  std::string where;
};

// By name as in the file: "tuning_budget_ms"; the flag is --tuning-budget-ms.
using Settings = std::map<std::string, Setting, std::less<>>;

// What the command line asks for beside settings.
struct CommandLine {
  Settings settings;
  std::string config_file;  // --config; empty: none
  std::string stop_point;   // hidden --stop-point, for tests that kill the daemon
  bool supervised = false;  // hidden --supervised: a supervisor started this process
  std::string printed;      // --help or --version: the text to print, and nothing else to do
};

Result<CommandLine> read_command_line(int count, const char* const* arguments);

// The Error names file and line: a syntax error, an unknown name, a value of the wrong type.
Result<Settings> read_settings_file(const std::string& path);

// One row per setting: the flags, the file and --help are made from it.
struct SettingRow {
  enum class Kind { text, list, number, flag };
  std::string_view name;
  Kind kind;
  std::string_view shown;  // the value's name in --help
  std::string_view help;
};
const std::vector<SettingRow>& setting_rows();

}  // namespace normd
