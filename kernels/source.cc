#include "kernels/source.h"

#include <cstddef>

#include "kernels/arguments.h"
#include "kernels/catalog.h"
#include "kernels/check.h"
#include "kernels/check_arguments.h"
#include "kernels/compare_arguments.h"
#include "kernels/digest.h"
#include "kernels/text_expansion.h"

namespace normd {
namespace {

void constant(std::string& text, std::string_view type, std::string_view name, std::int64_t value) {
  text.append("constexpr ").append(type).append(" ").append(name);
  text.append(" = ").append(std::to_string(value)).append(";\n");
}

void flag(std::string& text, std::string_view name, bool value) {
  text.append("constexpr bool ").append(name).append(value ? " = true;\n" : " = false;\n");
}

void type_name(std::string& text, std::string_view name, const std::optional<DType>& dtype) {
  text.append("using ").append(name).append(" = ");
  text.append(dtype ? dtype_name(*dtype) : std::string_view("none")).append(";\n");
}

// What the launch fixes, for every kernel.
void launch_constants(std::string& text, const Launch& launch) {
  constant(text, "int", "block_threads", launch.block);
  constant(text, "int", "rows_per_block", launch.rows_per_block);
  constant(text, "int", "shared_bytes", launch.shared_bytes);
}

// Everything of a problem but its rows, which are an argument.
void problem_constants(std::string& text, const Problem& problem) {
  constant(text, "long long", "columns", problem.columns);
  type_name(text, "x_type", problem.x);
  type_name(text, "y_type", problem.y);
  type_name(text, "gamma_type", problem.gamma);
  type_name(text, "beta_type", problem.beta);
  flag(text, "has_gamma", problem.gamma.has_value());
  flag(text, "has_beta", problem.beta.has_value());
  flag(text, "wants_mean", wants_mean(problem.stats));
  flag(text, "wants_rstd", wants_rstd(problem.stats));
  flag(text, "rows_contiguous", problem.rows_layout == RowsLayout::contiguous);
  constant(text, "int", "align_bytes", problem.align_bytes);
  constant(text, "int", "row_align_bytes", row_align_bytes(problem));
}

// The numbers that the host passes arguments with. A difference is a compile error, not a wrong
// answer.
std::string norm_arguments_asserts() {
  std::string text;
  const auto expect = [&](std::string_view expression, std::size_t value) {
    text.append("static_assert(").append(expression).append(" == ");
    text.append(std::to_string(value)).append(", \"as the host passes it\");\n");
  };
  expect("sizeof(normd::NormArguments)", sizeof(NormArguments));
#define NORMD_EXPECT_OFFSET(member) \
  expect("NORMD_OFFSET(normd::NormArguments, " #member ")", offsetof(NormArguments, member))
  NORMD_EXPECT_OFFSET(x);
  NORMD_EXPECT_OFFSET(gamma);
  NORMD_EXPECT_OFFSET(beta);
  NORMD_EXPECT_OFFSET(y);
  NORMD_EXPECT_OFFSET(mean);
  NORMD_EXPECT_OFFSET(rstd);
  NORMD_EXPECT_OFFSET(workspace);
  NORMD_EXPECT_OFFSET(rows);
  NORMD_EXPECT_OFFSET(columns);
  NORMD_EXPECT_OFFSET(x_row_stride);
  NORMD_EXPECT_OFFSET(y_row_stride);
  NORMD_EXPECT_OFFSET(epsilon);
  NORMD_EXPECT_OFFSET(flags);
#undef NORMD_EXPECT_OFFSET
  return text;
}

// Contraction is off so that a text computes the same on the CPU and on every GPU, and what is
// rounded where can be read off it; the texts ask for fused multiply-adds by name. Subnormals
// count.
std::vector<std::string> compile_options(std::string_view target) {
  if (target == "host") return {"-std=c++17", "-O2", "-ffp-contract=off"};
  return {"--std=c++17",     "--fmad=false",     "--ftz=false",
          "--prec-div=true", "--prec-sqrt=true", "--diag-suppress=177"};
}

std::string digest_of(const Source& source) {
  std::string all = source.text + '\0' + source.entry + '\0' + source.target;
  for (const std::string& option : source.options) all += '\0' + option;
  return sha256_hex(all);
}

Source finish(std::string text, std::string_view entry, std::string_view target) {
  Source source{.text = std::move(text),
                .entry = std::string(entry),
                .target = std::string(target),
                .options = compile_options(target),
                .digest = {}};
  source.digest = digest_of(source);
  return source;
}

struct Parts {
  std::string_view target;
  std::string_view arguments_file;
  std::string_view prelude;
  std::string_view template_file;
  std::string_view asserts;
};

std::string assemble(const Parts& parts) {
  TextExpansion expansion(parts.target);
  expansion.add_file("platform.cuh");
  expansion.add_file(parts.arguments_file);
  expansion.add_text("\nnamespace normd {\n\n");
  expansion.add_text(parts.prelude);
  expansion.add_text("\n}  // namespace normd\n\n");
  expansion.add_file(parts.template_file);
  expansion.add_text("\n");
  expansion.add_text(parts.asserts);
  return expansion.take();
}

std::string_view arguments_file_of(std::string_view template_name) {
  if (template_name == "check_rows") return "check_arguments.h";
  if (template_name == "compare_bytes") return "compare_arguments.h";
  return "arguments.h";
}

int architecture_number(std::string_view target) {
  if (target == "host") return 0;
  const auto spec = architecture_preset(target);
  NORMD_CHECK(spec.has_value());
  return spec->capability;
}

// A kernel that is compiled once for all problems.
Source render_for_all(std::string_view name, const Launch& launch, std::string_view asserts,
                      std::string_view target) {
  std::string prelude;
  constant(prelude, "int", "architecture", architecture_number(target));
  launch_constants(prelude, launch);
  return finish(assemble({.target = target,
                          .arguments_file = arguments_file_of(name),
                          .prelude = prelude,
                          .template_file = std::string(name) + ".cuh",
                          .asserts = asserts}),
                launch.entries.front(), target);
}

}  // namespace

Source render(const Candidate& candidate, const Problem& problem, const DeviceSpec& spec) {
  const Launch launch = launch_of(candidate, problem, spec);
  NORMD_CHECK(launch.entries.size() == 1);
  const std::string target = spec.architecture();
  std::string prelude;
  problem_constants(prelude, problem);
  constant(prelude, "int", "architecture", spec.kind == DeviceKind::host ? 0 : spec.capability);
  launch_constants(prelude, launch);
  for (const auto& [name, value] : candidate.values) {
    if (name == "rows_per_block") {
      NORMD_CHECK(value == launch.rows_per_block);
    } else {
      constant(prelude, "int", name, value);
    }
  }
  const std::string template_file = candidate.template_name + ".cuh";
  return finish(assemble({.target = target,
                          .arguments_file = "arguments.h",
                          .prelude = prelude,
                          .template_file = template_file,
                          .asserts = norm_arguments_asserts()}),
                launch.entries.front(), target);
}

Source render_any_columns(std::string_view target) {
  return render_for_all("any_columns", any_columns_launch(), norm_arguments_asserts(), target);
}

Source render_check_rows(std::string_view target) {
  const std::string asserts =
      "static_assert(sizeof(normd::CheckArguments) == " + std::to_string(sizeof(CheckArguments)) +
      ", \"as the host passes it\");\n" +
      "static_assert(sizeof(normd::CheckRecord) == " + std::to_string(sizeof(CheckRecord)) +
      ", \"as the host reads it\");\n";
  return render_for_all("check_rows", check_rows_launch(), asserts, target);
}

Source render_compare_bytes(std::string_view target) {
  const std::string asserts = "static_assert(sizeof(normd::CompareArguments) == " +
                              std::to_string(sizeof(CompareArguments)) +
                              ", \"as the host passes it\");\n";
  return render_for_all("compare_bytes", compare_bytes_launch(), asserts, target);
}

std::string template_digest(std::string_view template_name) {
  TextExpansion expansion("");
  expansion.add_file("platform.cuh");
  expansion.add_file(arguments_file_of(template_name));
  expansion.add_file(std::string(template_name) + ".cuh");
  return sha256_hex(expansion.take());
}

}  // namespace normd
