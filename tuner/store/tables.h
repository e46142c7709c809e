// Rows of winners, trials, binaries and leases in one Database that has the schema: the only code
// that turns them into structs and back. A row that does not parse is no row; it is counted.
// The Database's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/key.h"
#include "tuner/binary.h"
#include "tuner/store/sqlite.h"
#include "tuner/store/store.h"
#include "tuner/trial.h"

namespace normd {

// `unreadable` is raised for each row that was passed over.
struct TableReading {
  Database& database;
  std::int64_t& unreadable;
};

Result<std::optional<Winner>> read_winner(TableReading reading, const std::string& key);
Result<std::vector<Winner>> read_winners(TableReading reading, const WinnerQuery& query);
Result<std::vector<Trial>> read_trials(TableReading reading, const std::string& key);
Result<std::optional<Trial>> read_trial(TableReading reading, const std::string& key,
                                        const std::string& candidate, const std::string& compiler);
// Only bytes that match their digest.
Result<std::optional<Binary>> read_binary(TableReading reading, const std::string& digest);
Result<std::optional<Binary>> read_binary_of_source(TableReading reading,
                                                    const std::string& source_digest,
                                                    const std::string& compiler);

// None of these begins a transaction; the caller does.
Result<void> write_winner(Database& database, const Winner& winner);
Result<void> write_trial(Database& database, const Key& key, const Trial& trial);
Result<void> write_binary(Database& database, const Binary& binary);
Result<std::int64_t> erase_key(Database& database, const std::string& key);  // rows erased

enum class Conflict : std::uint8_t { replace = 1, keep = 2 };

// Winners, trials and binaries of one database into another; `conflict` says what becomes of a row
// that is there already.
Result<void> copy_rows(Database& from, Database& to, Conflict conflict);

}  // namespace normd
