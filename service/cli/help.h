// The words of `normctl --help`: a sentence for each command, and its examples. Constants only.
#pragma once

namespace normd {

struct CommandHelp {
  const char* summary;
  const char* details;
};

extern const char* const main_help;
extern const CommandHelp run_help;
extern const CommandHelp tune_help;
extern const CommandHelp list_help;
extern const CommandHelp show_help;
extern const CommandHelp explain_help;
extern const CommandHelp forget_help;
extern const CommandHelp status_help;
extern const CommandHelp devices_help;
extern const CommandHelp doctor_help;

}  // namespace normd
