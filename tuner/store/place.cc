#include "tuner/store/place.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace normd {
namespace {

std::string system_words(int code) {
  return std::strerror(code);
}

Error system_error(std::string doing, int code) {
  return Error{ErrorCode::failed_precondition, std::move(doing) + ": " + system_words(code), {}};
}

std::string dated_name(const std::string& database) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
  const std::string name = database + ".corrupt-" + stamp;
  std::string free_name = name;
  // Two in one second are told apart by a number; nothing that was set aside is ever overwritten.
  for (int number = 2; file_identity(free_name) || file_identity(free_name + "-wal"); ++number) {
    free_name = name + "-" + std::to_string(number);
  }
  return free_name;
}

Result<void> rename_if_there(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  const int code = errno;
  return fail(system_error("setting aside the damaged " + from + " as " + to, code));
}

}  // namespace

StorePlace store_place(const std::string& directory) {
  // SQLite follows a link to the file and keeps its log beside the target, so names go there too.
  std::error_code ignored;
  const std::string named = directory + "/normd.db";
  const auto resolved = std::filesystem::weakly_canonical(named, ignored);
  const std::string database = ignored || resolved.empty() ? named : resolved.string();
  return {.directory = std::filesystem::path(database).parent_path().string(),
          .database = database,
          .log = database + "-wal",
          .index = database + "-shm",
          .turn = database + ".turn"};
}

std::optional<FileIdentity> file_identity(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return FileIdentity{.device = found.st_dev, .inode = found.st_ino};
}

std::int64_t file_bytes(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

PlaceIdentity place_identity(const StorePlace& place) {
  return {.database = file_identity(place.database),
          .log = file_identity(place.log),
          .index = file_identity(place.index)};
}

Result<void> create_private_directory(const std::string& directory) {
  std::string path;
  for (const auto& part : std::filesystem::path(directory)) {
    path = (std::filesystem::path(path) / part).string();
    if (path.empty() || ::mkdir(path.c_str(), 0700) == 0) continue;
    const int code = errno;
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) continue;
    return fail(system_error("creating the store's directory " + path, code));
  }
  return {};
}

std::optional<std::string> network_file_system(std::int64_t type) {
  struct Kind {
    std::int64_t type;
    const char* name;
  };
  // From statfs(2) and the kernels' own headers. FUSE and 9p are not here: they may well be local,
  // and whether a log works there is tried when the file is opened.
  constexpr Kind kinds[] = {
      {0x6969, "NFS"},        {0x517b, "SMB"},      {0xff534d42, "CIFS"},  {0xfe534d42, "SMB2"},
      {0x5346414f, "AFS"},    {0x6b414653, "kAFS"}, {0x00c36400, "Ceph"},  {0x0bd00bd0, "Lustre"},
      {0x47504653, "GPFS"},   {0x73757245, "Coda"}, {0x01161970, "GFS2"},  {0x7461636f, "OCFS2"},
      {0x19830326, "BeeGFS"}, {0x564c, "NCP"},      {0xaad7aaea, "PanFS"},
  };
  for (const Kind& kind : kinds) {
    if (kind.type == (type & 0xffffffff)) return kind.name;
  }
  return std::nullopt;
}

std::optional<std::string> network_file_system_of(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return std::nullopt;
  return network_file_system(static_cast<std::int64_t>(found.f_type));
}

Result<std::string> set_aside(const StorePlace& place, SetAside what) {
  const std::string name = dated_name(place.database);
  // The log goes first: alone it does no harm, but beside the next file it would. One with nothing
  // in it, as an attempt to open the file leaves it, is not worth keeping.
  if (file_bytes(place.log) == 0) {
    ::unlink(place.log.c_str());
    ::unlink(place.index.c_str());
  }
  if (auto done = rename_if_there(place.log, name + "-wal"); !done) return fail(done.error());
  if (auto done = rename_if_there(place.index, name + "-shm"); !done) return fail(done.error());
  if (what == SetAside::log_only) return name + "-wal";
  if (auto done = rename_if_there(place.database, name); !done) return fail(done.error());
  return name;
}

Result<PrivateDirectory> PrivateDirectory::create() {
  int code = 0;
  for (const char* pattern :
       {"/tmp/normd-read-XXXXXX", "/dev/shm/normd-read-XXXXXX", "/var/tmp/normd-read-XXXXXX"}) {
    std::string path = pattern;
    if (::mkdtemp(path.data()) != nullptr) return PrivateDirectory(path);
    code = errno;
  }
  return fail(system_error("creating a directory under /tmp, /dev/shm or /var/tmp", code));
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

PrivateDirectory::~PrivateDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace normd
