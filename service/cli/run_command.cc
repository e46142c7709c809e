#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/message_json.h"
#include "service/cli/quantity.h"
#include "service/cli/run_question.h"

namespace normd {
namespace {

// What was found out about one answer besides the answer itself.
struct Findings {
  std::optional<Comparison> check;       // against the float64 reference
  std::optional<Difference> difference;  // to --expect
};

std::string scientific(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.3g", value);
  return buffer;
}

std::string origin_word(v1::Origin origin) {
  const auto* value = v1::Origin_descriptor()->FindValueByNumber(origin);
  return value == nullptr ? std::to_string(origin) : enum_word(*value);
}

Result<void> write_statistic(const std::string& path, const std::vector<float>& values,
                             const RunQuestion& question) {
  if (path.empty()) return {};
  TensorFile tensor{.dtype = DType::fp32, .shape = question.x.shape};
  tensor.shape.pop_back();
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return write_tensor(path, tensor);
}

Result<void> write_outputs(const RunFlags& flags, const RunQuestion& question,
                           const RunAnswer& answer, const TensorFile& y) {
  if (!flags.out.empty()) {
    if (Result<void> written = write_tensor(flags.out, y); !written) return written;
  }
  if (Result<void> mean = write_statistic(flags.mean, answer.mean, question); !mean) return mean;
  return write_statistic(flags.rstd, answer.rstd, question);
}

nlohmann::json findings_json(const Findings& findings) {
  nlohmann::json object = {{"check", nullptr}, {"expect", nullptr}};
  if (findings.check) {
    object["check"] = {{"ok", findings.check->failure.empty()},
                       {"elements", findings.check->elements},
                       {"error_max", findings.check->error_max},
                       {"error_over_bound", findings.check->error_over_bound},
                       {"relative_l2", findings.check->relative_l2},
                       {"failure", findings.check->failure}};
  }
  if (findings.difference) {
    object["expect"] = {{"difference_max", findings.difference->largest},
                        {"relative_l2", findings.difference->relative_l2},
                        {"not_comparable", findings.difference->not_comparable}};
  }
  return object;
}

void print_json_answer(Session& session, const RunQuestion& question, const RunAnswer& answer,
                       const Findings& findings) {
  nlohmann::json object = findings_json(findings);
  object.update({{"origin", origin_word(answer.origin)},
                 {"candidate", answer.candidate},
                 {"key", answer.key},
                 {"device", answer.device},
                 {"kernel_ns", answer.kernel_ns},
                 {"daemon_ns", answer.daemon_ns},
                 {"rows", question.rows},
                 {"columns", question.columns},
                 {"x_dtype", std::string(dtype_name(question.x.dtype))},
                 {"y_dtype", std::string(dtype_name(question.y_dtype))}});
  print_json(session, std::move(object));
}

void print_findings(std::ostream& out, const RunFlags& flags, const Findings& findings) {
  if (findings.check) {
    const Comparison& check = *findings.check;
    const bool good = check.failure.empty();
    out << "check      " << (good ? "ok" : "WRONG") << ": largest error "
        << scientific(check.error_max) << " against float64, " << scientific(check.error_over_bound)
        << " of what is allowed; relative L2 " << scientific(check.relative_l2) << "\n";
    if (!good) out << "           " << escaped(check.failure) << "\n";
  }
  if (findings.difference) {
    out << "expect     largest difference " << scientific(findings.difference->largest) << " to "
        << escaped(flags.expect) << "; relative L2 "
        << scientific(findings.difference->relative_l2);
    if (findings.difference->not_comparable > 0) {
      out << "; " << findings.difference->not_comparable << " elements are finite in one only";
    }
    out << "\n";
  }
}

void print_answer(Session& session, const RunFlags& flags, const RunQuestion& question,
                  const RunAnswer& answer) {
  std::ostream& out = session.out;
  out << "x          " << shape_text(question.x.shape) << " " << dtype_name(question.x.dtype);
  if (!question.x.conversion.empty()) out << ", " << question.x.conversion;
  out << "\n";
  const auto parameter = [&](const char* name, const std::optional<TensorFile>& tensor) {
    if (!tensor || tensor->conversion.empty()) return;
    out << name << tensor->conversion << "\n";
  };
  parameter("gamma      ", question.gamma);
  parameter("beta       ", question.beta);
  out << "y          " << dtype_name(question.y_dtype)
      << (flags.out.empty() ? ", not written (--out)" : ", written to " + escaped(flags.out))
      << "\n"
      << "origin     " << origin_word(answer.origin) << "\n";
  if (answer.origin == v1::ORIGIN_NONE) return;  // no rows: nothing was launched
  out << "candidate  " << escaped(answer.candidate) << "\n"
      << "key        " << escaped(answer.key) << "\n"
      << "device     " << escaped(answer.device) << "\n"
      << "kernel     " << format_ns(static_cast<double>(answer.kernel_ns)) << "\n"
      << "daemon     " << format_ns(static_cast<double>(answer.daemon_ns))
      << " besides the kernel and the copies\n";
}

}  // namespace

ExitStatus run_command(Session& session, const RunFlags& flags) {
  const Result<RunQuestion> question = read_run_question(flags);
  if (!question) return report(session, question.error());
  Result<Client> daemon = connect_daemon(session);
  if (!daemon) return report(session, daemon.error());
  const Result<RunAnswer> answer = daemon->run(run_call(*question, flags));
  if (!answer) return report(session, answer.error());
  const TensorFile y{.dtype = question->y_dtype, .shape = question->x.shape, .bytes = answer->y};
  Findings findings;
  if (flags.check) findings.check = compare_answer(*question, *answer);
  if (!flags.expect.empty()) {
    const Result<Difference> difference = difference_to(flags.expect, y);
    if (!difference) return report(session, difference.error());
    findings.difference = *difference;
  }
  if (Result<void> written = write_outputs(flags, *question, *answer, y); !written) {
    return report(session, written.error());
  }
  if (session.json) {
    print_json_answer(session, *question, *answer, findings);
  } else {
    print_answer(session, flags, *question, *answer);
    print_findings(session.out, flags, findings);
  }
  const bool wrong = findings.check && !findings.check->failure.empty();
  return wrong ? ExitStatus::mismatch : ExitStatus::ok;
}

}  // namespace normd
