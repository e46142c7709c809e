#include "service/client/places.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace normd {
namespace {

TEST(Places, a_flag_wins_over_every_variable) {
  const PlaceVariables variables{.normd_socket = "/v.sock", .xdg_runtime_dir = "/run/user/1"};
  EXPECT_EQ(socket_places("/f.sock", variables), (std::vector<Place>{{"/f.sock", "--socket"}}));
  EXPECT_EQ(store_place("/f", {.normd_store = "/v"}), (Place{"/f", "--store"}));
}

TEST(Places, sockets_are_looked_for_in_the_documented_order) {
  EXPECT_EQ(socket_places("", {.normd_socket = "/v.sock", .xdg_runtime_dir = "/run/user/1"}),
            (std::vector<Place>{{"/v.sock", "NORMD_SOCKET"}}));
  EXPECT_EQ(socket_places("", {.xdg_runtime_dir = "/run/user/1"}),
            (std::vector<Place>{{"/run/user/1/normd/normd.sock", "XDG_RUNTIME_DIR"},
                                {"/run/normd/normd.sock", "built in"}}));
  EXPECT_EQ(socket_places("", {}), (std::vector<Place>{{"/run/normd/normd.sock", "built in"}}));
}

TEST(Places, stores_are_looked_for_in_the_documented_order) {
  EXPECT_EQ(store_place("", {.normd_store = "/v", .xdg_cache_home = "/c", .home = "/h"}).path,
            "/v");
  EXPECT_EQ(store_place("", {.xdg_cache_home = "/c", .home = "/h"}).path, "/c/normd");
  EXPECT_EQ(store_place("", {.home = "/h"}).path, "/h/.cache/normd");
  EXPECT_EQ(store_place("", {}).path, "/var/lib/normd");
}

TEST(Places, relative_directories_of_the_environment_are_ignored) {
  const std::map<std::string, std::string> environment = {
      {"XDG_RUNTIME_DIR", "run"}, {"HOME", ""}, {"NORMD_SOCKET", "here.sock"}};
  const auto variables = read_place_variables([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
  EXPECT_EQ(variables.xdg_runtime_dir, "");
  EXPECT_EQ(variables.home, "");
  EXPECT_EQ(variables.normd_socket, "here.sock");  // a path that somebody chose is theirs
}

}  // namespace
}  // namespace normd
