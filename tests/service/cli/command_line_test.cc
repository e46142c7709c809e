#include "service/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/service/cli/tool.h"
#include "tests/service/client/fake_daemon.h"

namespace normd {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> commands = {"run",    "tune",   "ls",      "show",  "explain",
                                           "forget", "status", "devices", "doctor"};

TEST(CommandLine, help_lists_every_command_and_the_exit_statuses) {
  const ToolRun run = Tool{}({"--help"});
  EXPECT_EQ(run.status, ExitStatus::ok);
  for (const std::string& command : commands) EXPECT_THAT(run.out, HasSubstr("\n  " + command));
  EXPECT_THAT(run.out, HasSubstr("Exit status:"));
  EXPECT_THAT(run.out, HasSubstr("NO_COLOR"));
}

TEST(CommandLine, the_help_of_every_command_has_examples) {
  for (const std::string& command : commands) {
    const ToolRun run = Tool{}({command, "--help"});
    EXPECT_EQ(run.status, ExitStatus::ok) << command;
    EXPECT_THAT(run.out, HasSubstr("Examples:\n  normctl " + command)) << command;
  }
}

TEST(CommandLine, the_version_is_printed) {
  EXPECT_THAT(Tool{}({"--version"}).out, testing::StartsWith("normctl 0."));
}

TEST(CommandLine, a_wrong_command_line_is_a_usage_error_and_says_where_help_is) {
  const std::vector<std::vector<std::string>> wrong = {
      {},         {"frobnicate"},     {"ls", "--frob"},
      {"run"},    {"tune", "4x4"},    {"tune", "--dtype", "bf16"},
      {"show"},   {"show", "1", "2"}, {"--socket"},
      {"\x1b[2J"}};
  for (const auto& arguments : wrong) {
    const ToolRun run = Tool{}(arguments);
    EXPECT_EQ(run.status, ExitStatus::usage) << run.err;
    EXPECT_THAT(run.err, HasSubstr("--help"));
    EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
    EXPECT_EQ(run.out, "");
  }
}

TEST(CommandLine, a_wrong_value_is_named_with_its_flag) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"tune", "4096", "--dtype", "bf16"}, "position 5: expected 'x'"},
      {{"tune", "-4x8", "--dtype", "bf16"}, ""},
      {{"tune", "4x0", "--dtype", "bf16"}, "columns"},
      {{"tune", "0x8", "--dtype", "bf16"}, "nothing to tune"},
      {{"tune", "4x99999999", "--dtype", "bf16"}, "columns"},
      {{"tune", "4x8", "--dtype", "fp64"}, "--dtype \"fp64\": expected fp32, fp16 or bf16"},
      {{"tune", "4x8", "--dtype", "bf16", "--budget", "2"}, "--budget"},
      {{"tune", "4x8", "--dtype", "bf16", "--budget", "0s"}, "--budget"},
      {{"tune", "4x8", "--dtype", "bf16", "--budget", "601s"}, "--budget"},
      {{"tune", "4x8", "--dtype", "bf16", "--affine", "beta"}, "--affine"},
      {{"tune", "4x8", "--dtype", "bf16", "--affine", "none", "--gamma-dtype", "fp32"},
       "--gamma-dtype contradicts --affine"},
      {{"tune", "4x8", "--dtype", "bf16", "--stats", "all"}, "--stats"},
      {{"tune", "4x8", "--dtype", "bf16", "--bucket-mode", "x"}, "--bucket-mode"},
      {{"tune", "4x8", "--dtype", "bf16", "--align-bytes", "3"}, "align"},
      {{"explain", "4x8"}, "--dtype is required"},
      {{"ls", "--limit", "-1"}, "--limit"},
  };
  for (const auto& [arguments, words] : wrong) {
    Tool tool;
    tool.surroundings.variables.normd_socket = "/nonexistent/normd.sock";
    tool.surroundings.variables.normd_store = "/nonexistent";
    const ToolRun run = tool(arguments);
    EXPECT_EQ(run.status, ExitStatus::usage) << run.err;
    EXPECT_THAT(run.err, HasSubstr(words));
  }
}

TEST(CommandLine, without_a_daemon_live_commands_say_so_with_a_status_of_their_own) {
  Tool tool;
  tool.surroundings.variables.xdg_runtime_dir = "/nonexistent";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"status"}, {"tune", "4x8", "--dtype", "bf16"}}) {
    const ToolRun run = tool(arguments);
    EXPECT_EQ(run.status, ExitStatus::unreachable) << run.err;
    EXPECT_THAT(run.err, HasSubstr("/nonexistent/normd/normd.sock"));
  }
  EXPECT_THAT(tool({"tune", "4x8", "--dtype", "bf16"}).err, HasSubstr("--no-daemon"));
  const nlohmann::json object = nlohmann::json::parse(tool({"status", "--json"}).out);
  EXPECT_EQ(object["format"], 1);
  EXPECT_EQ(object["error"]["code"], "unavailable");
}

v1::GetStatusResponse sample_status() {
  v1::GetStatusResponse status;
  status.set_version("1.2.3");
  status.set_pid(77);
  status.set_uptime_ms(61'000);
  status.set_health("SERVING");
  status.set_compiler("NVRTC \x1b[31m13.0");
  status.mutable_counters()->set_runs(12);
  status.mutable_store()->set_persistent(false);
  status.mutable_store()->set_degraded_reason("disk full");
  auto* device = status.add_devices();
  device->set_uuid("GPU-1");
  device->set_state("serving");
  auto* limit = status.add_limits();
  limit->set_name("message_bytes_max");
  limit->set_value(64 << 20);
  return status;
}

TEST(CommandLine, status_prints_counters_by_their_protocol_names_and_escapes_texts) {
  FakeDaemon daemon;
  daemon.status = sample_status();
  daemon.start();
  const ToolRun run = Tool{}({"status", "--socket", daemon.socket()});
  EXPECT_EQ(run.status, ExitStatus::ok) << run.err;
  EXPECT_THAT(run.out, HasSubstr("compiles_on_request_path            0"));
  EXPECT_THAT(run.out, HasSubstr("IN MEMORY ONLY: disk full"));
  EXPECT_THAT(run.out, HasSubstr("\\x1b[31m13.0"));
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(run.out, Not(HasSubstr("message_bytes_max")));
  EXPECT_THAT(Tool{}({"-v", "status", "--socket", daemon.socket()}).out,
              HasSubstr("message_bytes_max"));
}

TEST(CommandLine, status_as_json_has_a_format_and_numbers_as_numbers) {
  FakeDaemon daemon;
  daemon.status = sample_status();
  daemon.start();
  const ToolRun run = Tool{}({"status", "--json", "--socket", daemon.socket()});
  const nlohmann::json object = nlohmann::json::parse(run.out);
  EXPECT_EQ(object["format"], 1);
  EXPECT_EQ(object["counters"]["runs"], 12);
  EXPECT_EQ(object["devices"][0]["uuid"], "GPU-1");
}

TEST(CommandLine, colours_appear_only_on_a_terminal_without_no_color) {
  FakeDaemon daemon;
  daemon.status = sample_status();
  daemon.start();
  Tool tool;
  tool.surroundings.out_is_terminal = true;
  EXPECT_THAT(tool({"status", "--socket", daemon.socket()}).out, HasSubstr("\x1b[32m"));
  tool.surroundings.no_color = true;
  EXPECT_THAT(tool({"status", "--socket", daemon.socket()}).out, Not(HasSubstr("\x1b")));
}

TEST(CommandLine, verbose_says_which_socket_is_used_and_why) {
  FakeDaemon daemon;
  daemon.status = sample_status();
  daemon.start();
  Tool tool;
  tool.surroundings.variables.normd_socket = daemon.socket();
  EXPECT_THAT(tool({"-v", "status"}).err,
              HasSubstr("socket " + daemon.socket() + " (NORMD_SOCKET)"));
}

TEST(CommandLine, doctor_names_a_remedy_for_each_problem_and_fails) {
  Tool tool;
  tool.surroundings.variables.normd_socket = "/nonexistent/normd.sock";
  tool.surroundings.variables.normd_store = "/nonexistent/store";
  const ToolRun run = tool({"doctor"});
  EXPECT_EQ(run.status, ExitStatus::failed);
  for (const char* subject : {"driver", "NVRTC", "host compiler", "socket", "daemon", "store"}) {
    EXPECT_THAT(run.out, HasSubstr(subject));
  }
  EXPECT_THAT(run.out, HasSubstr("start normd"));
  const nlohmann::json object = nlohmann::json::parse(tool({"doctor", "--json"}).out);
  EXPECT_EQ(object["ok"], false);
  EXPECT_EQ(object["diagnoses"].size(), 6u);
}

TEST(CommandLine, devices_end_with_the_host_device) {
  const ToolRun run = Tool{}({"devices", "--json"});
  EXPECT_EQ(run.status, ExitStatus::ok);
  EXPECT_EQ(nlohmann::json::parse(run.out)["devices"].back()["uuid"], "host");
}

}  // namespace
}  // namespace normd
