#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <ostream>

#include "service/cli/commands.h"
#include "service/cli/escape.h"
#include "service/cli/inspection.h"
#include "service/cli/table.h"
#include "tuner/compiler/compiler.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

// One line of the report. An empty remedy means that all is well.
struct Diagnosis {
  std::string subject;
  std::string finding;
  std::string remedy;

  bool ok() const { return remedy.empty(); }
};

Diagnosis diagnose_driver() {
  const Result<std::vector<DeviceListing>> gpus = list_gpus();
  if (!gpus) {
    return {.subject = "driver",
            .finding = gpus.error().message,
            .remedy =
                "install NVIDIA's driver (CUDA 13 wants 580 or later, 12 wants 525), or use "
                "--device host for tests and demos"};
  }
  std::string finding;
  for (const DeviceListing& gpu : *gpus) {
    finding += (finding.empty() ? "" : "; ") + gpu.identity.name + " (" + gpu.identity.uuid +
               ", driver " + gpu.identity.driver + ")";
  }
  return {.subject = "driver", .finding = finding};
}

Diagnosis diagnose_compiler(const std::string& subject, const std::string& target,
                            const std::string& remedy) {
  const Result<std::string> version = compiler_version(target);
  if (version) return {.subject = subject, .finding = *version};
  return {.subject = subject, .finding = version.error().message, .remedy = remedy};
}

Diagnosis diagnose_daemon(Session& session) {
  Result<Client> daemon = connect_daemon(session);
  if (!daemon) {
    return {.subject = "daemon", .finding = daemon.error().message, .remedy = "start normd"};
  }
  const Result<v1::GetStatusResponse> status = daemon->status();
  if (!status) {
    return {.subject = "daemon",
            .finding = status.error().message,
            .remedy = "look into normd's log, then restart it"};
  }
  const std::string finding =
      "normd " + status->version() + " at " + status->socket() + ", " + status->health();
  if (status->health() == "SERVING") return {.subject = "daemon", .finding = finding};
  return {.subject = "daemon",
          .finding = finding,
          .remedy = "it is starting or stopping; normctl status says more"};
}

// A socket that others may write to lets them use the GPU; one we may not write to is no use.
Diagnosis diagnose_socket_rights(Session& session) {
  const std::vector<Place> places = socket_places(session.socket, session.surroundings.variables);
  for (const Place& place : places) {
    struct stat status = {};
    if (lstat(place.path.c_str(), &status) != 0) continue;
    const std::string finding = place.path + " (" + place.from + ")";
    if (!S_ISSOCK(status.st_mode)) {
      return {.subject = "socket",
              .finding = finding + " is no socket",
              .remedy = "remove the file, or name another place by --socket"};
    }
    if ((status.st_mode & S_IWOTH) != 0) {
      return {.subject = "socket",
              .finding = finding + " may be written by everyone",
              .remedy = "chmod o-w " + place.path};
    }
    if (access(place.path.c_str(), R_OK | W_OK) != 0) {
      return {.subject = "socket",
              .finding = finding + ": " + std::strerror(errno),
              .remedy = "join the group that owns it (usually normd), and log in again"};
    }
    return {.subject = "socket", .finding = finding};
  }
  return {.subject = "socket",
          .finding = "none at " + places.front().path + " (" + places.front().from + ")",
          .remedy = "start normd, or name its socket by --socket or NORMD_SOCKET"};
}

Diagnosis diagnose_store(Session& session) {
  const StoreChoice choice = choose_store(session);
  const std::string place = choice.directory + " (" + choice.from + ")";
  if (!choice.persistent) {
    return {.subject = "store",
            .finding = place + " is kept in the daemon's memory only",
            .remedy = "give the daemon a place it may write, by --store; normctl status says why"};
  }
  const auto store = Store::open(choice.directory, Store::Mode::read_only);
  if (!store && store.error().code == ErrorCode::not_found) {
    return {.subject = "store", .finding = place + ": none yet; the first tuning makes it"};
  }
  if (!store) {
    return {.subject = "store",
            .finding = place + ": " + store.error().message,
            .remedy = "a newer normd may have written it: use that one, or another --store"};
  }
  const StoreStatus status = (*store)->status();
  std::string finding = place + ": " + std::to_string(status.winners) + " winners, schema " +
                        std::to_string(status.schema_version);
  if (access(choice.directory.c_str(), W_OK) != 0) {
    return {.subject = "store",
            .finding = finding + ", read-only for this user: " + std::strerror(errno),
            .remedy = "reading works; to tune without a daemon, use a --store of your own"};
  }
  return {.subject = "store", .finding = std::move(finding)};
}

}  // namespace

ExitStatus doctor_command(Session& session) {
  const std::vector<Diagnosis> diagnoses = {
      diagnose_driver(),
      diagnose_compiler("NVRTC", "sm_90",
                        "install libnvrtc of the driver's CUDA major version; without it stored "
                        "shapes are served tuned, and others by the fallback"),
      diagnose_compiler("host compiler", "host",
                        "install g++; only the host device needs it, for tests and demos"),
      diagnose_socket_rights(session),
      diagnose_daemon(session),
      diagnose_store(session),
  };
  bool all_ok = true;
  nlohmann::json list = nlohmann::json::array();
  Table table({{"subject"}, {"state"}, {"finding"}});
  for (const Diagnosis& diagnosis : diagnoses) {
    all_ok = all_ok && diagnosis.ok();
    list.push_back({{"subject", diagnosis.subject},
                    {"ok", diagnosis.ok()},
                    {"finding", diagnosis.finding},
                    {"remedy", diagnosis.remedy}});
    table.add({diagnosis.subject, diagnosis.ok() ? "ok" : "problem", escaped(diagnosis.finding)},
              diagnosis.ok() ? LineStyle::good : LineStyle::bad);
    if (!diagnosis.ok()) table.add({" ", "remedy", escaped(diagnosis.remedy)});
  }
  if (session.json) {
    print_json(session, {{"ok", all_ok}, {"diagnoses", std::move(list)}});
  } else {
    session.out << table.text(session.color());
  }
  return all_ok ? ExitStatus::ok : ExitStatus::failed;
}

}  // namespace normd
