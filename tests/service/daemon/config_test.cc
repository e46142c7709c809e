#include "service/daemon/config.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace normd {
namespace {

Result<CommandLine> read_flags(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "normd");
  return read_command_line(static_cast<int>(arguments.size()), arguments.data());
}

Result<Config> config_of(const std::vector<const char*>& arguments) {
  const auto command = read_flags(arguments);
  if (!command) return fail(command.error());
  return make_config(command->settings, {.home = "/home/a"});
}

// A configuration file for one test.
class File {
 public:
  explicit File(const std::string& text) : path_(testing::TempDir() + "normd_config_test.toml") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Config, every_flag_reaches_its_field) {
  const auto config = config_of({"--socket",
                                 "/s",
                                 "--listen",
                                 "127.0.0.1:70",
                                 "--store",
                                 "/d",
                                 "--devices",
                                 "0,host:sm_90",
                                 "--warm",
                                 "/w",
                                 "--policy",
                                 "wait",
                                 "--tuning-budget-ms",
                                 "5",
                                 "--drift-check-s",
                                 "0",
                                 "--compile-workers",
                                 "3",
                                 "--supervise",
                                 "--reflection",
                                 "--log-level",
                                 "debug",
                                 "--log-format",
                                 "json"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->socket, (Place{"/s", "--socket"}));
  EXPECT_EQ(config->listen, (ListenAddress{"127.0.0.1", 70}));
  EXPECT_EQ(config->store.path, "/d");
  EXPECT_EQ(config->devices, (std::vector<std::string>{"0", "host:sm_90"}));
  EXPECT_EQ(config->warm_file, "/w");
  EXPECT_EQ(config->policy, Policy::wait);
  EXPECT_EQ(config->tuning_budget_ms, 5);
  EXPECT_EQ(config->drift_check_s, 0);
  EXPECT_EQ(config->compile_workers, 3);
  EXPECT_TRUE(config->supervise);
  EXPECT_TRUE(config->reflection);
  EXPECT_EQ(config->log_level, LogLevel::debug);
  EXPECT_EQ(config->log_format, LogFormat::json);
}

TEST(Config, without_flags_it_serves_every_gpu_with_the_fallback_policy) {
  const auto config = config_of({});
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->devices.empty());
  EXPECT_EQ(config->policy, Policy::fallback);
  EXPECT_FALSE(config->listen);
  EXPECT_FALSE(config->drift_check_s) << "the device decides";
  EXPECT_EQ(config->store.path, "/home/a/.cache/normd");
}

TEST(Config, a_wrong_value_is_refused_with_its_flag) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases = {
      {{"--listen", "0.0.0.0:70"}, "--listen must be a loopback address"},
      {{"--listen", "example.com:70"}, "--listen must be a loopback address"},
      {{"--listen", "127.0.0.1"}, "--listen must be HOST:PORT"},
      {{"--listen", "127.0.0.1:65536"}, "--listen must be HOST:PORT"},
      {{"--listen", "127.0.0.1:-1"}, "--listen must be HOST:PORT"},
      {{"--policy", "maybe"}, "--policy must be fallback, wait or fail"},
      {{"--drift-check-s", "-1"}, "--drift-check-s must be 0 to 86400, not '-1'"},
      {{"--drift-check-s", "86401"}, "--drift-check-s must be 0 to 86400"},
      {{"--tuning-budget-ms", "0"}, "--tuning-budget-ms must be 1 to 600000"},
      {{"--tuning-budget-ms", "2s"}, "--tuning-budget-ms must be 1 to 600000"},
      {{"--compile-workers", "65"}, "--compile-workers must be 1 to 64"},
      {{"--log-level", "loud"}, "--log-level must be"},
      {{"--log-format", "xml"}, "--log-format must be text or json"},
      {{"--devices", "0,0"}, "--devices names '0' more than once"},
  };
  for (const auto& [arguments, message] : cases) {
    const auto config = config_of(arguments);
    ASSERT_FALSE(config) << message;
    EXPECT_NE(config.error().message.find(message), std::string::npos) << config.error().message;
  }
}

TEST(Config, a_socket_path_longer_than_the_system_holds_is_refused_before_anything_is_opened) {
  const std::string path(108, 's');
  EXPECT_FALSE(config_of({"--socket", path.c_str()}));
  const std::string fits(107, 's');
  EXPECT_TRUE(config_of({"--socket", fits.c_str()}));
}

TEST(Config, all_complaints_come_at_once) {
  const auto config = config_of({"--policy", "maybe", "--log-level", "loud"});
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().message.find("--policy"), std::string::npos);
  EXPECT_NE(config.error().message.find("--log-level"), std::string::npos);
}

TEST(CommandLine, an_unknown_flag_is_refused) {
  const auto command = read_flags({"--colour", "red"});
  ASSERT_FALSE(command);
  EXPECT_NE(command.error().message.find("--colour"), std::string::npos);
}

TEST(CommandLine, help_has_examples_and_exit_codes) {
  const auto command = read_flags({"--help"});
  ASSERT_TRUE(command);
  EXPECT_NE(command->printed.find("Examples:"), std::string::npos);
  EXPECT_NE(command->printed.find("3 already running"), std::string::npos);
  EXPECT_EQ(command->printed.find("--stop-point"), std::string::npos);
}

TEST(SettingsFile, flags_win_over_the_file) {
  const File file(
      "tuning_budget_ms = 7\npolicy = \"wait\"\ndevices = [\"0\", 1]\n"
      "reflection = true\n");
  const auto settings = read_settings_file(file.path());
  ASSERT_TRUE(settings) << settings.error().message;
  const auto flags = read_flags({"--policy", "fail"});
  const auto config = make_config(merged(flags->settings, *settings), {});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->policy, Policy::fail);
  EXPECT_EQ(config->tuning_budget_ms, 7);
  EXPECT_EQ(config->devices, (std::vector<std::string>{"0", "1"}));
  EXPECT_TRUE(config->reflection);
}

TEST(SettingsFile, a_mistake_is_named_with_file_and_line) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"policy = \"wait\"\ncolour = 1\n", ":2: there is no setting 'colour'"},
      {"\npolicy = 3\n", ":2: policy must be a string"},
      {"socket = \"a\\u0000b\"\n", ":1: socket must be a string without \\u0000"},
      {"devices = [\"0\\u0000\"]\n", ":1: devices must be an array"},
      {"\n\ndevices = \"0\"\n", ":3: devices must be an array"},
      {"devices = [1.5]\n", ":1: devices must be an array"},
      {"tuning_budget_ms = \"7\"\n", ":1: tuning_budget_ms must be an integer"},
      {"supervise = 1\n", ":1: supervise must be true or false"},
      {"policy = \n", ":1: "},
  };
  for (const auto& [text, message] : cases) {
    const File file(text);
    const auto settings = read_settings_file(file.path());
    ASSERT_FALSE(settings) << text;
    EXPECT_NE(settings.error().message.find(file.path() + message), std::string::npos)
        << settings.error().message;
  }
}

TEST(SettingsFile, a_value_out_of_range_is_named_with_file_and_line) {
  const File file("\ntuning_budget_ms = 0\n");
  const auto config = make_config(*read_settings_file(file.path()), {});
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().message.find(file.path() + ":2: tuning_budget_ms must be 1 to"),
            std::string::npos)
      << config.error().message;
}

TEST(SettingsFile, a_file_that_is_not_there_is_refused) {
  EXPECT_FALSE(read_settings_file("/nonexistent/normd.toml"));
}

TEST(SettingsFile, a_directory_is_no_empty_file) {
  const auto settings = read_settings_file(testing::TempDir());
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find("is a directory"), std::string::npos);
}

}  // namespace
}  // namespace normd
