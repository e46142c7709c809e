// normctl: client, tuner and inspector of normd. main reads the environment and the terminal; all
// else is in command_line.h.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "service/cli/command_line.h"

int main(int argc, char** argv) {
  // A reader that went away (`normctl ls | head`) is found by the failed write.
  std::signal(SIGPIPE, SIG_IGN);
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const char* no_color = std::getenv("NO_COLOR");
  const normd::Surroundings surroundings = {
      .variables = normd::read_place_variables([](const char* name) { return std::getenv(name); }),
      .program_directory = program.parent_path().string(),
      .in_is_terminal = isatty(STDIN_FILENO) == 1,
      .out_is_terminal = isatty(STDOUT_FILENO) == 1,
      .err_is_terminal = isatty(STDERR_FILENO) == 1,
      .no_color = no_color != nullptr && *no_color != '\0',
  };
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(
      normd::run_command_line(arguments, surroundings, {std::cin, std::cout, std::cerr}));
}
