// Script: how a scripted worker misbehaves: rules in a file that the test writes and every worker
// process reads before each answer. A rule holds for a verb, for subjects that contain a text, and
// a number of times, counted over all processes. For test programs only.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace normd {

class Script {
 public:
  static constexpr int always = 1'000'000;

  explicit Script(std::string directory) : directory_(std::move(directory)) {}

  // For the test: from now on.
  void add(std::string_view verb, std::string_view subject, std::string_view action,
           int times = always) {
    std::ofstream(rules(), std::ios::app)
        << verb << '\t' << subject << '\t' << action << '\t' << times << '\n';
  }
  void clear() {
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
      std::filesystem::remove(file);
    }
  }
  // How often a rule was followed, by its place.
  std::uintmax_t followed(int rule) const {
    std::error_code none;
    const auto count = std::filesystem::file_size(counter(rule), none);
    return none ? 0 : count;
  }

  // For the worker: the action of the first rule that holds, which it follows now.
  std::optional<std::string> take(std::string_view verb, const std::string& subject) {
    std::ifstream file(rules());
    std::string line;
    for (int rule = 0; std::getline(file, line); ++rule) {
      std::istringstream fields(line);
      std::string of_verb, contained, action, times;
      std::getline(fields, of_verb, '\t');
      std::getline(fields, contained, '\t');
      std::getline(fields, action, '\t');
      std::getline(fields, times, '\t');
      if (of_verb != verb || subject.find(contained) == std::string::npos) continue;
      if (followed(rule) >= std::stoul(times)) continue;
      std::ofstream(counter(rule), std::ios::app) << 'x';
      return action;
    }
    return std::nullopt;
  }

 private:
  std::string rules() const { return directory_ + "/rules"; }
  std::string counter(int rule) const { return directory_ + "/rule" + std::to_string(rule); }

  std::string directory_;
};

}  // namespace normd
