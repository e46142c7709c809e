// The place of a store: the names of its files, whether they are still the same files, and what may
// be done in the directory. Touches files by name only, never through SQLite. Plain values and
// functions; any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/error.h"

namespace normd {

struct StorePlace {
  std::string directory;
  std::string database;  // normd.db
  std::string log;       // normd.db-wal
  std::string index;     // normd.db-shm
  std::string turn;      // normd.db.turn
};

StorePlace store_place(const std::string& directory);

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

std::optional<FileIdentity> file_identity(const std::string& path);
std::int64_t file_bytes(const std::string& path);  // 0 if there is none

// The three files that SQLite holds open; a name that now stands for another file, or for none,
// means that rows written through the old one would be lost.
struct PlaceIdentity {
  std::optional<FileIdentity> database;
  std::optional<FileIdentity> log;
  std::optional<FileIdentity> index;
  bool operator==(const PlaceIdentity&) const = default;
};

PlaceIdentity place_identity(const StorePlace& place);

// Makes the directory and its missing parents, private to the user.
Result<void> create_private_directory(const std::string& directory);

// The file system's name if two machines can write it at once, where SQLite's log must not be used;
// `type` is as statfs gives it.
std::optional<std::string> network_file_system(std::int64_t type);
std::optional<std::string> network_file_system_of(const std::string& directory);

enum class SetAside : std::uint8_t { everything = 1, log_only = 2 };

// Renames the files to normd.db.corrupt-YYYYMMDD-HHMMSS (and -wal, -shm). The new name. Under the
// store's turn; whoever still has them open goes on with files that have other names.
Result<std::string> set_aside(const StorePlace& place, SetAside what);

// A directory of this process alone, removed with all that is in it.
class PrivateDirectory {
 public:
  static Result<PrivateDirectory> create();
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;
  ~PrivateDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty once moved from
};

}  // namespace normd
