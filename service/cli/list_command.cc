#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/inspection.h"
#include "service/cli/message_json.h"
#include "service/cli/quantity.h"
#include "service/cli/table.h"
#include "service/cli/trials_view.h"

namespace normd {
namespace {

// Rows that a terminal shows unless more are asked for; a pipe gets all.
constexpr std::int64_t terminal_rows = 100;

bool holds_all(const v1::Winner& winner, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return winner.key().find(word) != std::string::npos ||
           winner.candidate().find(word) != std::string::npos;
  });
}

std::vector<std::string> key_cells(const std::string& key_text) {
  const Result<Key> key = parse_key(key_text);
  // A newer program may write keys that this one cannot read; they are shown as they are.
  if (!key) return {escaped(key_text), "", "", "", ""};
  return {to_text(key->bucket), std::to_string(key->problem.columns),
          describe_tensors(key->problem), std::string(bucket_mode_name(key->mode)),
          describe_device(key->fingerprint)};
}

void add_row(Table& table, const ListedWinner& listed) {
  const v1::Winner& winner = listed.winner;
  std::vector<std::string> cells = key_cells(winner.key());
  cells.insert(cells.begin(), std::to_string(listed.number));
  cells.push_back(escaped(winner.candidate()));
  const v1::Measurement* best = headline(winner.measurements());
  const v1::Measurement* baseline = headline(winner.default_measurements());
  cells.push_back(best == nullptr ? "" : format_ns(best->median_ns()));
  cells.push_back(best == nullptr ? "" : format_share(best->copy_ns(), best->median_ns()));
  const bool comparable = best != nullptr && baseline != nullptr && best->median_ns() > 0;
  cells.push_back(comparable ? format_fixed(baseline->median_ns() / best->median_ns(), 2) : "");
  cells.push_back(format_time(winner.tuned_at_unix_s()) + (winner.pinned() ? " pinned" : ""));
  table.add(std::move(cells));
}

std::string winners_table(const std::vector<ListedWinner>& winners, bool color) {
  Table table({{"#", Alignment::right},
               {"rows", Alignment::right},
               {"columns", Alignment::right},
               {"tensors"},
               {"mode"},
               {"device"},
               {"candidate"},
               {"time", Alignment::right},
               {"of copy", Alignment::right},
               {"x default", Alignment::right},
               {"tuned (UTC)"}});
  for (const ListedWinner& listed : winners) add_row(table, listed);
  return table.text(color);
}

void print_winners_json(Session& session, const std::vector<ListedWinner>& winners) {
  nlohmann::json list = nlohmann::json::array();
  for (const ListedWinner& listed : winners) {
    nlohmann::json object = to_json(listed.winner);
    object["number"] = listed.number;
    list.push_back(std::move(object));
  }
  print_json(session, {{"winners", std::move(list)}});
}

Result<std::int64_t> row_limit(const Session& session, const ListFlags& flags) {
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  if (!flags.limit.empty()) {
    return parse_integer_in(flags.limit, {.min = 1, .max = 1'000'000'000}, "--limit");
  }
  return session.surroundings.out_is_terminal && !session.json ? terminal_rows : all;
}

}  // namespace

ExitStatus list_command(Session& session, const ListFlags& flags) {
  const Result<std::int64_t> limit = row_limit(session, flags);
  if (!limit) return report(session, limit.error());
  Result<Inspection> inspection = Inspection::open(session);
  if (!inspection) return report(session, inspection.error());
  Result<std::vector<ListedWinner>> winners = inspection->winners();
  if (!winners) return report(session, winners.error());
  std::erase_if(*winners,
                [&](const ListedWinner& listed) { return !holds_all(listed.winner, flags.words); });
  const auto found = static_cast<std::int64_t>(winners->size());
  if (found > *limit) winners->resize(static_cast<std::size_t>(*limit));
  if (session.json) {
    print_winners_json(session, *winners);
    return ExitStatus::ok;
  }
  if (winners->empty()) {
    session.err << "no winner is stored"
                << (flags.words.empty() ? "\n" : " whose key or candidate holds these words\n");
    return ExitStatus::ok;
  }
  session.out << winners_table(*winners, session.color());
  if (found > *limit) {
    session.err << found - *limit << " more; ask for them by --limit " << found
                << ", or add words that the key must hold\n";
  }
  return ExitStatus::ok;
}

}  // namespace normd
