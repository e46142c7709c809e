#include "service/cli/session.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/text.h"
#include "service/cli/escape.h"

namespace normd {
namespace {

constexpr int json_format = 1;

// The place whose socket exists, or the only one there is; null if several are possible and none
// exists.
const Place* present(const std::vector<Place>& places) {
  if (places.size() == 1) return &places.front();
  for (const Place& place : places) {
    std::error_code ignored;
    if (std::filesystem::exists(place.path, ignored)) return &place;
  }
  return nullptr;
}

}  // namespace

ExitStatus report(Session& session, const Error& error) {
  const char* prefix = "normctl: ";
  for (const std::string_view line : split(error.message, '\n')) {
    session.err << prefix << escaped(line) << "\n";
    prefix = "  ";
  }
  const bool said = error.field.empty() || error.message.find(error.field) != std::string::npos;
  if (!said) session.err << "  at fault: " << escaped(error.field) << "\n";
  if (session.json) {
    print_json(session, {{"error",
                          {{"code", std::string(error_code_name(error.code))},
                           {"message", error.message},
                           {"field", error.field}}}});
  }
  return exit_status(error.code);
}

void print_json(Session& session, nlohmann::json object) {
  object["format"] = json_format;
  // Everything beyond ASCII is escaped, and bytes that are no UTF-8 are replaced: what a store
  // holds never reaches a terminal raw.
  session.out << object.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) << "\n";
}

void note(Session& session, const std::string& text) {
  if (session.verbose) session.err << "normctl: " << escaped(text) << "\n";
}

Result<Client> connect_daemon(Session& session) {
  const std::vector<Place> places = socket_places(session.socket, session.surroundings.variables);
  const Place* place = present(places);
  if (place == nullptr) {
    std::string message = "no daemon's socket is at any of";
    for (const Place& tried : places) message += " " + tried.path + " (" + tried.from + ")";
    return fail(ErrorCode::unavailable, message + "; start normd, or name its socket by --socket");
  }
  note(session, "socket " + place->path + " (" + place->from + ")");
  return Client::connect(place->path);
}

}  // namespace normd
