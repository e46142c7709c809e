#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/inspection.h"
#include "service/cli/message_json.h"
#include "service/cli/trials_view.h"

namespace normd {

ExitStatus show_command(Session& session, const KeyFlags& flags) {
  Result<Inspection> inspection = Inspection::open(session);
  if (!inspection) return report(session, inspection.error());
  const Result<ListedWinner> listed = inspection->find(flags.key);
  if (!listed) return report(session, listed.error());
  const v1::Winner& winner = listed->winner;
  const Result<std::vector<v1::Trial>> trials = inspection->trials(winner.key());
  if (!trials) return report(session, trials.error());
  if (session.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const v1::Trial& trial : *trials) list.push_back(to_json(trial));
    print_json(
        session,
        {{"number", listed->number}, {"winner", to_json(winner)}, {"trials", std::move(list)}});
    return ExitStatus::ok;
  }
  session.out << winner_summary(winner) << "\n"
              << trials_table(*trials, {.key = winner.key(),
                                        .winner = winner.candidate(),
                                        .bars = session.surroundings.out_is_terminal,
                                        .color = session.color()});
  return ExitStatus::ok;
}

}  // namespace normd
