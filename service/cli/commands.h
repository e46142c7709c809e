// The commands of normctl: one function and one struct of its flags each. Flags are texts as typed;
// the command reads them strictly and names the flag that is wrong. Every function prints its
// answer or its error and returns the exit status. One thread.
#pragma once

#include <string>
#include <vector>

#include "service/cli/problem_flags.h"
#include "service/cli/session.h"

namespace normd {

struct RunFlags {
  std::string x, gamma, beta;                    // .npy files
  std::string out, mean, rstd;                   // .npy files to write
  std::string dtype;                             // bf16: uint16 arrays hold bf16
  std::string x_dtype, gamma_dtype, beta_dtype;  // convert on the way
  std::string y_dtype;
  std::string epsilon = "1e-5";
  std::string policy = "fallback";
  std::string bucket_mode = "bucketed";
  std::string device;
  std::string expect;  // .npy file to compare with
  std::string deadline;
  bool check = false;
};
ExitStatus run_command(Session& session, const RunFlags& flags);

struct TuneFlags {
  ProblemFlags problem;
  std::string device;
  std::string budget;
  std::string template_name;
  bool again = false;
  bool no_daemon = false;
};
ExitStatus tune_command(Session& session, const TuneFlags& flags);

struct ListFlags {
  std::vector<std::string> words;  // only keys that hold them all
  std::string limit;
};
ExitStatus list_command(Session& session, const ListFlags& flags);

struct KeyFlags {
  std::string key;
};
ExitStatus show_command(Session& session, const KeyFlags& flags);

struct ExplainFlags {
  ProblemFlags problem;  // its shape may be a KEY instead
  std::string device;
};
ExitStatus explain_command(Session& session, const ExplainFlags& flags);

struct ForgetFlags {
  std::string key;
  bool yes = false;
};
ExitStatus forget_command(Session& session, const ForgetFlags& flags);

ExitStatus status_command(Session& session);
ExitStatus devices_command(Session& session);
ExitStatus doctor_command(Session& session);

}  // namespace normd
