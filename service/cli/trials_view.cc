#include "service/cli/trials_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "service/cli/escape.h"
#include "service/cli/quantity.h"
#include "service/cli/table.h"

namespace normd {
namespace {

constexpr double bar_width = 20;

// One column of times: a row count in one state of the cache.
struct TimeColumn {
  std::int64_t rows = 0;
  bool warm = false;
  bool operator==(const TimeColumn&) const = default;
};

std::vector<TimeColumn> time_columns(const std::vector<v1::Trial>& trials) {
  std::vector<TimeColumn> columns;
  for (const v1::Trial& trial : trials) {
    for (const v1::Measurement& measurement : trial.measurements()) {
      const TimeColumn column{.rows = measurement.rows(), .warm = measurement.warm()};
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
        columns.push_back(column);
      }
    }
  }
  std::sort(columns.begin(), columns.end(), [](const TimeColumn& a, const TimeColumn& b) {
    return std::pair(a.warm, a.rows) < std::pair(b.warm, b.rows);
  });
  return columns;
}

double headline_ns(const v1::Trial& trial) {
  const v1::Measurement* measurement = headline(trial.measurements());
  return measurement == nullptr ? std::numeric_limits<double>::infinity()
                                : measurement->median_ns();
}

std::string gigabytes_per_second(const v1::Measurement& measurement,
                                 const std::optional<Key>& key) {
  if (!key || !(measurement.median_ns() > 0)) return "";
  const double bytes = useful_bytes(problem_at(*key, measurement.rows()));
  return format_fixed(bytes / measurement.median_ns(),
                      bytes < 10 * measurement.median_ns() ? 2 : 0);
}

std::string number_or_nothing(int value, int unknown) {
  return value == unknown ? "" : std::to_string(value);
}

std::string remark(const v1::Trial& trial, const TrialsView& view, double best_ns) {
  if (trial.verdict() != "measured") {
    std::string detail = trial.detail();
    constexpr std::size_t detail_bytes_max = 200;
    if (detail.size() > detail_bytes_max) detail = detail.substr(0, detail_bytes_max) + "...";
    return escaped(trial.verdict() + " " + trial.reason() + (detail.empty() ? "" : ": ") + detail);
  }
  std::string text;
  if (view.bars) {
    const double length = std::round(bar_width * best_ns / headline_ns(trial));
    text = std::string(static_cast<std::size_t>(std::clamp(length, 1.0, bar_width)), '#');
  }
  if (trial.candidate() == view.winner) text += text.empty() ? "winner" : " winner";
  return text;
}

std::vector<std::string> cells(const v1::Trial& trial, const std::vector<TimeColumn>& columns,
                               const std::optional<Key>& key) {
  std::vector<std::string> row = {escaped(trial.candidate())};
  for (const TimeColumn& column : columns) {
    const auto& measurements = trial.measurements();
    const auto found =
        std::find_if(measurements.begin(), measurements.end(), [&](const v1::Measurement& m) {
          return m.rows() == column.rows && m.warm() == column.warm;
        });
    row.push_back(found == measurements.end() ? "" : time_with_interval(*found));
  }
  const v1::Measurement* measurement = headline(trial.measurements());
  row.push_back(measurement == nullptr ? "" : gigabytes_per_second(*measurement, key));
  row.push_back(
      measurement == nullptr ? "" : format_share(measurement->copy_ns(), measurement->median_ns()));
  row.push_back(measurement == nullptr ? "" : number_or_nothing(measurement->sm_clock_mhz(), 0));
  row.push_back(number_or_nothing(trial.registers(), -1));
  row.push_back(std::to_string(trial.shared_bytes()));
  row.push_back(number_or_nothing(trial.blocks_per_sm(), 0));
  return row;
}

// Takes the trials that were not tried out, and says how many there were, by reason.
std::string count_not_tried(std::vector<v1::Trial>& trials) {
  std::map<std::string, int> count;
  std::erase_if(trials, [&](const v1::Trial& trial) {
    if (trial.verdict() != "not_tried") return false;
    ++count[escaped(trial.reason())];
    return true;
  });
  std::string text;
  for (const auto& [reason, trials_count] : count) {
    text += std::to_string(trials_count) + " more not tried: " + reason + "\n";
  }
  return text;
}

}  // namespace

const v1::Measurement* headline(const MeasurementList& measurements) {
  const v1::Measurement* best = nullptr;
  for (const v1::Measurement& measurement : measurements) {
    // Of both states of the cache the one that decides comes last.
    if (best == nullptr || measurement.rows() >= best->rows()) best = &measurement;
  }
  return best;
}

std::string time_with_interval(const v1::Measurement& measurement) {
  std::string text = format_ns(measurement.median_ns());
  const double half_width = (measurement.high_ns() - measurement.low_ns()) / 2;
  if (measurement.median_ns() > 0 && half_width > 0) {
    text += " ±" + format_fixed(100 * half_width / measurement.median_ns(), 1) + " %";
  }
  return text;
}

std::string describe_tensors(const Problem& problem) {
  const auto name = [](DType dtype) { return std::string(dtype_name(dtype)); };
  std::string text = name(problem.x);
  if (problem.y != problem.x) text += "->" + name(problem.y);
  const auto parameter = [&](const std::optional<DType>& dtype, const char* what) {
    if (!dtype) return std::string(" no-") + what;
    return *dtype == problem.x ? std::string() : std::string(" ") + what + ":" + name(*dtype);
  };
  text += parameter(problem.gamma, "gamma") + parameter(problem.beta, "beta");
  if (problem.stats != Stats::none) text += " +" + std::string(stats_name(problem.stats));
  if (problem.rows_layout == RowsLayout::strided) text += " strided";
  return text;
}

std::string describe_device(const Fingerprint& fingerprint) {
  if (fingerprint.kind == DeviceKind::host) return "host";
  return "sm_" + std::to_string(fingerprint.capability) + " " +
         std::to_string(fingerprint.sm_count) + " SMs";
}

std::string trials_table(std::vector<v1::Trial> trials, const TrialsView& view) {
  const Result<Key> parsed = parse_key(view.key);
  const std::optional<Key> key = parsed ? std::optional(*parsed) : std::nullopt;
  const std::string not_tried = count_not_tried(trials);
  std::stable_sort(trials.begin(), trials.end(), [](const v1::Trial& a, const v1::Trial& b) {
    return headline_ns(a) < headline_ns(b);
  });
  const std::vector<TimeColumn> columns = time_columns(trials);
  std::vector<Table::Column> headings = {{"#", Alignment::right}, {"candidate"}};
  for (const TimeColumn& column : columns) {
    headings.push_back(
        {std::to_string(column.rows) + (column.warm ? " rows, warm" : " rows"), Alignment::right});
  }
  for (const char* heading : {"GB/s", "of copy", "SM MHz", "registers", "shared", "blocks/SM"}) {
    headings.push_back({heading, Alignment::right});
  }
  headings.push_back({view.bars ? "speed, or reason" : "remark"});
  const double best_ns = trials.empty() ? 0 : headline_ns(trials.front());
  Table table(std::move(headings));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    std::vector<std::string> row = cells(trials[i], columns, key);
    row.insert(row.begin(), std::to_string(i + 1));
    row.push_back(remark(trials[i], view, best_ns));
    const bool measured = trials[i].verdict() == "measured";
    const bool won = measured && trials[i].candidate() == view.winner;
    table.add(std::move(row), won ? LineStyle::good : measured ? LineStyle::plain : LineStyle::dim);
  }
  return (table.empty() ? "" : table.text(view.color)) + not_tried;
}

std::string winner_summary(const v1::Winner& winner) {
  std::string text = "key        " + escaped(winner.key()) + "\n";
  text += "device     " + escaped(winner.device_name());
  if (winner.device_uuid() != winner.device_name()) text += " " + escaped(winner.device_uuid());
  text += ", driver " + escaped(winner.driver()) + "\n";
  const auto line = [](const std::string& candidate, const v1::Measurement* measurement) {
    return escaped(candidate) +
           (measurement == nullptr ? "" : "  " + time_with_interval(*measurement)) + "\n";
  };
  const v1::Measurement* best = headline(winner.measurements());
  const v1::Measurement* baseline = headline(winner.default_measurements());
  text += "winner     " + line(winner.candidate(), best);
  text += "default    " + line(winner.default_candidate(), baseline);
  if (best != nullptr && baseline != nullptr && best->median_ns() > 0) {
    text += "gain       " + format_fixed(baseline->median_ns() / best->median_ns(), 2) +
            " times the default's speed at " + std::to_string(best->rows()) + " rows\n";
  }
  for (const std::string& tie : winner.ties()) text += "tie        " + escaped(tie) + "\n";
  text += "tuned      " + format_time(winner.tuned_at_unix_s()) + " UTC by " +
          escaped(winner.tuned_by()) + " with " + escaped(winner.compiler()) + " in " +
          std::to_string(winner.tuning_ms()) + " ms" + (winner.pinned() ? ", pinned" : "") + "\n";
  return text;
}

}  // namespace normd
