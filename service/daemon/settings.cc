#include "service/daemon/settings.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace normd {
namespace {

constexpr char footer[] = R"(Places:
  socket  --socket, NORMD_SOCKET, $XDG_RUNTIME_DIR/normd/normd.sock, /run/normd/normd.sock
  store   --store, NORMD_STORE, $XDG_CACHE_HOME/normd, $HOME/.cache/normd, /var/lib/normd

The configuration file is TOML with the same names, underscores for dashes; flags win over it:
  devices = ["0", "1"]
  tuning_budget_ms = 5000

Examples:
  normd                                     serve every GPU to the same user
  normd --devices 0 --warm shapes.txt       one GPU; load and tune these shapes in advance
  normd --devices host                      no GPU: the kernels run on the CPU, to try things out
  normd --listen 127.0.0.1:7000             also on TCP, from this machine only
  normd --supervise --config /etc/normd.toml

Exit status: 0 stopped by a signal, 1 internal, 2 usage, 3 already running, 4 no usable device,
5 socket or store place unusable, 6 device lost (--supervise restarts after 1, 6 and crashes).)";

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

// Where CLI11 puts what it read, until it becomes Settings.
struct Read {
  std::vector<std::string> values;
  bool given = false;
};

void add_row(CLI::App& app, const SettingRow& row, Read& read) {
  const std::string help(row.help);
  if (row.kind == SettingRow::Kind::flag) {
    app.add_flag(flag_of(row.name), read.given, help);
    return;
  }
  CLI::Option* option = app.add_option(flag_of(row.name), read.values, help);
  option->type_name(std::string(row.shown))->type_size(1);
  if (row.kind == SettingRow::Kind::list) {
    option->delimiter(',')->expected(1, 64);
  } else {
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

}  // namespace

const std::vector<SettingRow>& setting_rows() {
  using Kind = SettingRow::Kind;
  static const std::vector<SettingRow> rows = {
      {"socket", Kind::text, "PATH", "Unix socket to serve on"},
      {"listen", Kind::text, "HOST:PORT", "also serve on TCP; loopback only; port 0 picks one"},
      {"store", Kind::text, "DIR", "directory of the stored winners"},
      {"devices", Kind::list, "NAME,...",
       "GPUs by UUID or index, or host, or host:sm_90; default: every GPU"},
      {"warm", Kind::text, "FILE", "list of shapes to load, or to tune, before serving"},
      {"policy", Kind::text, "POLICY",
       "what an untuned shape gets unless the request says: fallback, wait or fail"},
      {"tuning_budget_ms", Kind::number, "N", "time for the tuning of one shape; default 2000"},
      {"drift_check_s", Kind::number, "N",
       "quiet time after which a used winner is measured again; 0 never; default 60, host 0"},
      {"compile_workers", Kind::number, "N",
       "compiler processes per device; default: half the cores, 2 to 8"},
      {"nvrtc", Kind::text, "FILE", "the NVRTC library; default: searched for, see docs/setup.md"},
      {"supervise", Kind::flag, "", "restart the daemon when it fails"},
      {"reflection", Kind::flag, "", "answer gRPC reflection on TCP too"},
      {"log_level", Kind::text, "LEVEL", "debug, info, warning, error or off; default info"},
      {"log_format", Kind::text, "FORMAT", "text or json; default text"},
  };
  return rows;
}

Result<CommandLine> read_command_line(int count, const char* const* arguments) {
  CLI::App app("normd serves LayerNorm from tuned kernels.", "normd");
  app.footer(footer);
  app.set_version_flag("--version", "normd " NORMD_VERSION);
  CommandLine command;
  app.add_option("--config", command.config_file, "configuration file")->type_name("FILE");
  app.add_option("--stop-point", command.stop_point)->group("");
  app.add_flag("--supervised", command.supervised)->group("");
  std::map<std::string, Read, std::less<>> reads;
  for (const SettingRow& row : setting_rows()) add_row(app, row, reads[std::string(row.name)]);
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp&) {
    command.printed = app.help();
  } catch (const CLI::CallForVersion& version) {
    command.printed = std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::invalid_argument,
                std::string(error.what()) + " (normd --help lists the flags)");
  }
  for (auto& [name, read] : reads) {
    if (read.given) read.values = {"true"};
    if (!read.values.empty()) command.settings[name] = {std::move(read.values), flag_of(name)};
  }
  return command;
}

}  // namespace normd
