#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tuner/store/schema.h"
#include "tuner/store/store_file.h"

namespace normd {
namespace {

// The log is read only through its index. With no log, or an empty one, nothing but the file
// counts, and it is read without a lock: the directory may be one that nobody can write. A log
// without its index was left by a process that is gone, and making an index would be a change: so
// both files are copied away and read there.
Result<StoreFile> open_as_found(const StorePlace& place, bool copy_needed) {
  const bool log = file_bytes(place.log) > 0;
  const bool index = file_identity(place.index).has_value();
  if (!copy_needed && (!log || index)) {
    const OpenAs as = log ? OpenAs::reader : OpenAs::immutable_reader;
    auto database = Database::open(place.database, as);
    if (!database) return fail(database.error());
    auto reading = Database::open(place.database, as);
    if (!reading) return fail(reading.error());
    return StoreFile{.place = place,
                     .identity = place_identity(place),
                     .turn = std::nullopt,
                     .copy = std::nullopt,
                     .database = std::move(*database),
                     .reading = std::move(*reading)};
  }
  auto copy = PrivateDirectory::create();
  if (!copy) return fail(copy.error());
  const StorePlace there = store_place(copy->path());
  std::error_code failed;
  std::filesystem::copy_file(place.database, there.database, failed);
  if (!failed && log) std::filesystem::copy_file(place.log, there.log, failed);
  if (failed) {
    return fail(ErrorCode::failed_precondition, "copying " + place.database + " to " +
                                                    there.directory +
                                                    " to read it there: " + failed.message());
  }
  auto database = Database::open(there.database, OpenAs::writer);
  if (!database) return fail(database.error());
  auto reading = Database::open(there.database, OpenAs::writer);
  if (!reading) return fail(reading.error());
  return StoreFile{.place = place,
                   .identity = place_identity(place),
                   .turn = std::nullopt,
                   .copy = std::move(*copy),
                   .database = std::move(*database),
                   .reading = std::move(*reading)};
}

Result<StoreFile> open_judged(const StorePlace& place, bool copy_needed) {
  auto file = open_as_found(place, copy_needed);
  if (!file) return file;
  const Result<FileJudgement> judgement = judge(file->database, true);
  if (!judgement) return fail(judgement.error());
  switch (judgement->kind) {
    case FileKind::store:
      for (Database* connection : {&file->database, &*file->reading}) {
        if (auto seen = view_as_now(*connection); !seen) return fail(seen.error());
      }
      return file;
    case FileKind::empty:
      return fail(ErrorCode::not_found, place.database + " is empty: no store was begun there");
    case FileKind::newer:
    case FileKind::foreign:
      return fail(ErrorCode::failed_precondition,
                  place.database + " is not read: " + judgement->words);
    case FileKind::damaged:
      break;
  }
  return fail(ErrorCode::data_loss, place.database + " is damaged: " + judgement->words +
                                        "; a program that may write there will set it aside");
}

}  // namespace

Result<StoreFile> open_for_reading(const std::string& directory) {
  const StorePlace place = store_place(directory);
  if (::access(place.database.c_str(), R_OK) != 0) {
    const int code = errno;
    return fail(
        code == ENOENT || code == ENOTDIR ? ErrorCode::not_found : ErrorCode::failed_precondition,
        "reading " + place.database + ": " + std::strerror(code));
  }
  auto file = open_judged(place, false);
  if (file) return file;
  if (file.error().code == ErrorCode::data_loss) {
    // A writer that began or checkpointed at this very moment looks like damage; it does not twice.
    return open_judged(place, false);
  }
  // Where the index may neither be made nor written, SQLite declines; a copy can be read all the
  // same.
  const bool log = file_bytes(place.log) > 0;
  const ErrorCode code = file.error().code;
  if (log && (code == ErrorCode::unavailable || code == ErrorCode::internal)) {
    return open_judged(place, true);
  }
  return file;
}

}  // namespace normd
