#include "service/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/help.h"

namespace normd {
namespace {

// What was parsed. CLI11 fills it in and calls back nothing: one place decides what runs.
struct ParsedLine {
  std::string socket;
  std::string store;
  bool json = false;
  bool verbose = false;
  RunFlags run;
  TuneFlags tune;
  ListFlags list;
  KeyFlags show;
  ExplainFlags explain;
  ForgetFlags forget;
};

CLI::App* add_command(CLI::App& app, const std::string& name, const CommandHelp& help) {
  CLI::App* command = app.add_subcommand(name, help.summary);
  command->footer(help.details);
  command->fallthrough();  // --json and its like may follow the command
  return command;
}

void add_run(CLI::App& app, RunFlags& flags) {
  CLI::App* command = add_command(app, "run", run_help);
  command->add_option("--x", flags.x, "input; its last axis is the columns")->required();
  command->add_option("--gamma", flags.gamma, "factors, one for each column");
  command->add_option("--beta", flags.beta, "summands, one for each column");
  command->add_option("--epsilon", flags.epsilon, "added to the variance (1e-5)");
  command->add_option("--out", flags.out, "where y is written");
  command->add_option("--mean", flags.mean, "where each row's mean is written");
  command->add_option("--rstd", flags.rstd, "where each row's 1/sqrt(variance + epsilon) goes");
  command->add_option("--dtype", flags.dtype, "of the files: bf16 says that uint16 means bf16");
  command->add_option("--x-dtype", flags.x_dtype, "convert x to this before sending it");
  command->add_option("--gamma-dtype", flags.gamma_dtype, "convert gamma to this");
  command->add_option("--beta-dtype", flags.beta_dtype, "convert beta to this");
  command->add_option("--y-dtype", flags.y_dtype, "of the answer (as x)");
  command->add_option("--policy", flags.policy, "fallback (default), wait or fail");
  command->add_option("--bucket-mode", flags.bucket_mode,
                      "bucketed (default), single_row_count or batch_invariant");
  command->add_option("--device", flags.device, "UUID or index (the first)");
  command->add_option("--deadline", flags.deadline, "such as 500ms (30s; 120s to wait)");
  command->add_option("--expect", flags.expect, "compare y with this file");
  command->add_flag("--check", flags.check, "compare y with the float64 reference");
}

void add_problem(CLI::App& command, ProblemFlags& flags) {
  command.add_option("--dtype", flags.dtype, "of x: fp32, fp16 or bf16");
  command.add_option("--y-dtype", flags.y_dtype, "of y (as x)");
  command.add_option("--affine", flags.affine, "none, gamma or both (default)");
  command.add_option("--gamma-dtype", flags.gamma_dtype, "of gamma (as x)");
  command.add_option("--beta-dtype", flags.beta_dtype, "of beta (as x)");
  command.add_option("--stats", flags.stats, "none (default), mean, rstd or mean_rstd");
  command.add_option("--rows-layout", flags.rows_layout, "contiguous (default) or strided");
  command.add_option("--align-bytes", flags.align_bytes, "of every tensor's address (16)");
  command.add_option("--bucket-mode", flags.bucket_mode,
                     "bucketed (default), single_row_count or batch_invariant");
}

void add_tune(CLI::App& app, TuneFlags& flags) {
  CLI::App* command = add_command(app, "tune", tune_help);
  command->add_option("shape", flags.problem.shape, "ROWSxCOLUMNS, such as 4096x8192")->required();
  add_problem(*command, flags.problem);
  command->get_option("--dtype")->required();
  command->add_option("--device", flags.device, "UUID, index or host (the first)");
  command->add_option("--budget", flags.budget, "wall time, such as 2s (the daemon's default)");
  command->add_option("--template", flags.template_name, "only this template");
  command->add_flag("--again", flags.again, "tune although a winner is stored");
  command->add_flag("--no-daemon", flags.no_daemon, "tune in this process, into the store");
}

void add_inspection(CLI::App& app, ParsedLine& line) {
  CLI::App* list = add_command(app, "ls", list_help);
  list->add_option("words", line.list.words, "only winners that hold all of these words");
  list->add_option("--limit", line.list.limit, "rows at most (100 on a terminal, else all)");
  CLI::App* show = add_command(app, "show", show_help);
  show->add_option("KEY", line.show.key, "number of normctl ls, or words of one key")->required();
  CLI::App* explain = add_command(app, "explain", explain_help);
  explain->add_option("what", line.explain.problem.shape, "ROWSxCOLUMNS, or KEY")->required();
  add_problem(*explain, line.explain.problem);
  explain->add_option("--device", line.explain.device, "UUID or index (the first)");
}

void add_commands(CLI::App& app, ParsedLine& line) {
  app.add_option("--socket", line.socket, "the daemon's socket, or host:port");
  app.add_option("--store", line.store, "the store's directory");
  app.add_flag("--json", line.json, "print one JSON object");
  app.add_flag("-v,--verbose", line.verbose, "say which socket and store are used");
  app.set_version_flag("--version", "normctl " NORMD_VERSION);
  app.footer(main_help);
  app.require_subcommand(1);
  add_run(app, line.run);
  add_tune(app, line.tune);
  add_inspection(app, line);
  CLI::App* forget = add_command(app, "forget", forget_help);
  forget->add_option("KEY", line.forget.key, "number of normctl ls, or words of one key")
      ->required();
  forget->add_flag("--yes", line.forget.yes, "do not ask");
  add_command(app, "status", status_help);
  add_command(app, "devices", devices_help);
  add_command(app, "doctor", doctor_help);
}

ExitStatus run_parsed(const CLI::App& app, const ParsedLine& line, Session& session) {
  if (app.got_subcommand("run")) return run_command(session, line.run);
  if (app.got_subcommand("tune")) return tune_command(session, line.tune);
  if (app.got_subcommand("ls")) return list_command(session, line.list);
  if (app.got_subcommand("show")) return show_command(session, line.show);
  if (app.got_subcommand("explain")) return explain_command(session, line.explain);
  if (app.got_subcommand("forget")) return forget_command(session, line.forget);
  if (app.got_subcommand("status")) return status_command(session);
  if (app.got_subcommand("devices")) return devices_command(session);
  return doctor_command(session);
}

}  // namespace

ExitStatus run_command_line(const std::vector<std::string>& arguments,
                            const Surroundings& surroundings, Streams streams) {
  CLI::App app("Tunes, asks and inspects normd, the LayerNorm daemon.", "normctl");
  ParsedLine line;
  add_commands(app, line);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& asked) {  // --help or --version
    app.exit(asked, streams.out, streams.err);
    return ExitStatus::ok;
  } catch (const CLI::ParseError& error) {
    streams.err << "normctl: " << escaped(error.what()) << "\n"
                << "normctl --help, or --help after a command, says what is possible\n";
    return ExitStatus::usage;
  }
  Session session{.surroundings = surroundings,
                  .in = streams.in,
                  .out = streams.out,
                  .err = streams.err,
                  .socket = line.socket,
                  .store = line.store,
                  .json = line.json,
                  .verbose = line.verbose};
  const ExitStatus status = run_parsed(app, line, session);
  // A full disk or a closed pipe must not look like success.
  if (!streams.out.flush()) {
    streams.err << "normctl: the output could not be written in full\n";
    return ExitStatus::failed;
  }
  return status;
}

}  // namespace normd
