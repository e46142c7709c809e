// How good the order is in which candidates are tried. `measure` tunes each shape of a list afresh,
// without hurry, and prints what every candidate took; `report` reads that and says what the first
// candidates of the cost model's order reach of the best of all. The first needs a device:
//   search_order measure --device 0 --shapes LIST > bench/results/trials-h200.csv
//   search_order report bench/results/trials-h200.csv
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/order_report.h"
#include "bench/scratch_tuner.h"

namespace normd {
namespace {

struct Measuring {
  std::string device = "0";
  std::string shapes;
  std::int64_t budget_ms = 8000;
};

int complain(const Error& error) {
  std::fprintf(stderr, "search_order: %s\n", error.message.c_str());
  return 1;
}

void print_trials(const Problem& problem, const Tuning& tuning) {
  for (const Trial& trial : tuning.trials) {
    if (trial.verdict.kind != VerdictKind::measured) continue;
    const Measurement& measurement = trial.verdict.measurements.back();
    std::printf(
        "%s\n",
        trial_line({problem, trial.candidate, measurement.median_ns, measurement.copy_ns}).c_str());
  }
  std::fflush(stdout);
}

int measure(const Measuring& measuring) {
  const auto device = open_study_device(measuring.device);
  if (!device) return complain(device.error());
  const DeviceSpec& spec = device->spec;
  const auto shapes = listed_shapes(measuring.shapes, spec);
  if (!shapes) return complain(shapes.error());
  auto scratch = ScratchTuner::create(*device, "search_order");
  if (!scratch) return complain(scratch.error());
  int failed = 0;
  std::printf("%s\n", device_line(spec).c_str());
  for (const WarmShape& shape : *shapes) {
    const Problem& problem = shape.problem;
    const auto tuning = scratch->tuner().tune({.problem = problem,
                                               .mode = BucketMode::single_row_count,
                                               .budget_ms = measuring.budget_ms,
                                               .everything = true},
                                              [](const TuneProgress&) {}, {});
    if (tuning) {
      print_trials(problem, *tuning);
    } else {
      ++failed;
      complain(tuning.error());
    }
  }
  return failed > 0 ? 1 : 0;
}

int report(const std::string& path) {
  const auto text = contents_of(path);
  if (!text) return complain(text.error());
  const auto file = parse_trial_file(*text, path);
  if (!file) return complain(file.error());
  std::fputs(order_table(orders_of(*file)).c_str(), stdout);
  if (file->outdated > 0) {
    std::printf("left out: %d lines of candidates that the catalog no longer has\n",
                file->outdated);
  }
  return 0;
}

}  // namespace
}  // namespace normd

int main(int argc, char** argv) {
  CLI::App app{"How soon the cost model's order comes to the best candidate"};
  app.require_subcommand(1);
  normd::Measuring measuring;
  auto* const measured = app.add_subcommand("measure", "time every candidate of the listed shapes");
  measured->add_option("--device", measuring.device, "UUID or index, or host");
  measured->add_option("--shapes", measuring.shapes, "ROWSxCOLUMNS DTYPE, one a line")->required();
  measured->add_option("--budget-ms", measuring.budget_ms, "per shape");
  std::string path;
  auto* const reported = app.add_subcommand("report", "the curve, from what measure printed");
  reported->add_option("FILE", path)->required();
  CLI11_PARSE(app, argc, argv);
  return measured->parsed() ? normd::measure(measuring) : normd::report(path);
}
