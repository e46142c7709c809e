#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/message_json.h"
#include "service/cli/quantity.h"
#include "service/cli/table.h"

namespace normd {
namespace {

std::string devices_table(const v1::GetStatusResponse& status, bool color) {
  Table table({{"index", Alignment::right},
               {"name"},
               {"uuid"},
               {"kind"},
               {"driver"},
               {"state"},
               {"kernels", Alignment::right},
               {"queued", Alignment::right},
               {"tuning", Alignment::right},
               {"waiting", Alignment::right}});
  for (const v1::DeviceStatus& device : status.devices()) {
    table.add({std::to_string(device.index()), escaped(device.name()), escaped(device.uuid()),
               escaped(device.kind()), escaped(device.driver()), escaped(device.state()),
               std::to_string(device.kernels_loaded()), std::to_string(device.tunings_queued()),
               std::to_string(device.tunings_running()), std::to_string(device.calls_waiting())},
              device.state() == "serving" ? LineStyle::plain : LineStyle::bad);
  }
  return table.text(color);
}

void print_store(std::ostream& out, const v1::StoreStatus& store) {
  out << "store      " << escaped(store.path()) << "\n"
      << "           " << store.winners() << " winners, " << store.trials() << " trials, "
      << store.binaries() << " binaries, " << format_bytes(store.file_bytes()) << " and "
      << format_bytes(store.wal_bytes()) << " in the log, schema " << store.schema_version()
      << "\n";
  if (!store.persistent()) {
    out << "           IN MEMORY ONLY: " << escaped(store.degraded_reason()) << "\n";
  } else if (!store.degraded_reason().empty()) {
    out << "           degraded: " << escaped(store.degraded_reason()) << "\n";
  }
  if (!store.set_aside().empty()) {
    out << "           a damaged file was set aside as " << escaped(store.set_aside()) << "\n";
  }
}

// The counters by their protocol names, so that a grep for one finds its whole story.
void print_counters(std::ostream& out, const v1::Counters& counters) {
  Table table({{"counter"}, {"since start", Alignment::right}});
  const nlohmann::json values = to_json(counters);
  const auto* descriptor = v1::Counters::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const std::string& name = descriptor->field(i)->name();
    table.add({name, std::to_string(values[name].get<std::int64_t>())});
  }
  out << table.text(false);
}

}  // namespace

ExitStatus status_command(Session& session) {
  Result<Client> daemon = connect_daemon(session);
  if (!daemon) return report(session, daemon.error());
  const Result<v1::GetStatusResponse> status = daemon->status();
  if (!status) return report(session, status.error());
  if (session.json) {
    print_json(session, to_json(*status));
    return ExitStatus::ok;
  }
  std::ostream& out = session.out;
  const bool serving = status->health() == "SERVING";
  const std::string health = escaped(status->health());
  out << "normd      " << escaped(status->version()) << ", process " << status->pid() << ", up "
      << format_ns(1e6 * static_cast<double>(status->uptime_ms())) << ", "
      << (session.color() ? styled(health, serving ? LineStyle::good : LineStyle::bad) : health)
      << "\n"
      << "socket     " << escaped(status->socket()) << "\n"
      << "compiler   " << escaped(status->compiler()) << "\n";
  print_store(out, status->store());
  out << "\n" << devices_table(*status, session.color()) << "\n";
  print_counters(out, status->counters());
  if (session.verbose) {
    Table limits({{"limit"}, {"value", Alignment::right}});
    for (const v1::Limit& limit : status->limits()) {
      limits.add({escaped(limit.name()), std::to_string(limit.value())});
    }
    out << "\n" << limits.text(false);
  }
  return ExitStatus::ok;
}

}  // namespace normd
