#include "tuner/store/place.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tuner/store/store_samples.h"

namespace normd {
namespace {

TEST(PlaceTest, network_file_systems_are_told_from_local_ones) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0xfe534d42), "SMB2");
  EXPECT_EQ(network_file_system(static_cast<std::int32_t>(0xff534d42)), "CIFS")
      << "statfs may give it with a sign";
  EXPECT_EQ(network_file_system(0xef53), std::nullopt) << "ext4";
  EXPECT_EQ(network_file_system(0x01021994), std::nullopt) << "tmpfs";
  EXPECT_EQ(network_file_system(0x9123683e), std::nullopt) << "btrfs";
  EXPECT_EQ(network_file_system(0x794c7630), std::nullopt) << "overlayfs";
  EXPECT_EQ(network_file_system_of("/proc"), std::nullopt);
}

TEST(PlaceTest, files_are_beside_what_a_link_points_to) {
  const StoreDirectory directory;
  const StoreDirectory elsewhere;
  write_bytes(elsewhere.file("real.db"), "");
  std::filesystem::create_symlink(elsewhere.file("real.db"), directory.file("normd.db"));
  const StorePlace place = store_place(directory.path());
  EXPECT_EQ(place.database, elsewhere.file("real.db"));
  EXPECT_EQ(place.log, elsewhere.file("real.db-wal"));
  EXPECT_EQ(place.turn, elsewhere.file("real.db.turn"));
}

TEST(PlaceTest, two_files_set_aside_in_one_second_get_two_names) {
  const StoreDirectory directory;
  const StorePlace place = store_place(directory.path());
  for (const char* bytes : {"one", "two", "three"}) {
    write_bytes(place.database, bytes);
    write_bytes(place.log, bytes);
    const auto name = set_aside(place, SetAside::everything);
    ASSERT_TRUE(name);
    EXPECT_EQ(read_bytes(*name), bytes);
    EXPECT_EQ(read_bytes(*name + "-wal"), bytes);
  }
  EXPECT_EQ(directory.names("normd.db.corrupt-").size(), 6u);
  EXPECT_EQ(directory.names("").size(), 6u);
}

TEST(PlaceTest, an_identity_changes_when_a_name_gets_another_file) {
  const StoreDirectory directory;
  const StorePlace place = store_place(directory.path());
  write_bytes(place.database, "a");
  const PlaceIdentity before = place_identity(place);
  write_bytes(place.database, "other bytes, same file");
  EXPECT_EQ(place_identity(place), before);
  write_bytes(place.log, "");
  EXPECT_NE(place_identity(place), before);
}

TEST(PlaceTest, a_private_directory_goes_with_all_that_is_in_it) {
  std::string path;
  {
    auto directory = PrivateDirectory::create();
    ASSERT_TRUE(directory);
    path = directory->path();
    const PrivateDirectory moved = std::move(*directory);
    write_bytes(path + "/file", "");
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace normd
