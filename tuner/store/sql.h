// Every SQL text of the store. Values are always bound, never pasted in. A table's columns have one
// order, in which rows are read, written and copied from one database to another.
// Constants only; any thread.
#pragma once

namespace normd::sql {

// Version 1. A key, a fingerprint, a candidate, a launch and a measurement are kept as their
// canonical texts, several of them one a line. Times that people sort by have columns of their own.
inline constexpr char version_1[] = R"(
CREATE TABLE device (
  fingerprint TEXT NOT NULL PRIMARY KEY CHECK (fingerprint <> ''),
  name TEXT NOT NULL,
  uuid TEXT NOT NULL,
  driver TEXT NOT NULL,
  seen_at_unix_s INTEGER NOT NULL CHECK (seen_at_unix_s >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE winner (
  key TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
  fingerprint TEXT NOT NULL REFERENCES device (fingerprint),
  candidate TEXT NOT NULL CHECK (candidate <> ''),
  launch TEXT NOT NULL CHECK (launch <> ''),
  template_digest TEXT NOT NULL,
  binary_digest TEXT NOT NULL,
  measurements TEXT NOT NULL,
  median_ns REAL NOT NULL CHECK (median_ns >= 0),
  default_candidate TEXT NOT NULL,
  default_measurements TEXT NOT NULL,
  default_median_ns REAL NOT NULL CHECK (default_median_ns >= 0),
  ties TEXT NOT NULL,
  device_name TEXT NOT NULL,
  device_uuid TEXT NOT NULL,
  driver TEXT NOT NULL,
  compiler TEXT NOT NULL,
  tuned_by TEXT NOT NULL,
  tuned_at_unix_s INTEGER NOT NULL,
  tuning_ms INTEGER NOT NULL,
  pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
  used_at_unix_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX winner_by_binary ON winner (binary_digest);
CREATE INDEX winner_by_fingerprint ON winner (fingerprint);

CREATE TABLE trial (
  key TEXT NOT NULL CHECK (key <> ''),
  fingerprint TEXT NOT NULL REFERENCES device (fingerprint),
  candidate TEXT NOT NULL CHECK (candidate <> ''),
  compiler TEXT NOT NULL,
  verdict INTEGER NOT NULL CHECK (verdict IN (1, 2)),
  reason INTEGER NOT NULL,
  detail TEXT NOT NULL,
  measurements TEXT NOT NULL,
  median_ns REAL NOT NULL CHECK (median_ns >= 0),
  error_over_bound REAL NOT NULL,
  binary_digest TEXT NOT NULL,
  registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  shared_bytes INTEGER NOT NULL,
  blocks_per_sm INTEGER NOT NULL,
  sightings INTEGER NOT NULL CHECK (sightings >= 1),
  put_at_unix_s INTEGER NOT NULL,
  PRIMARY KEY (key, candidate, compiler)
) STRICT, WITHOUT ROWID;
CREATE INDEX trial_by_binary ON trial (binary_digest);
CREATE INDEX trial_by_fingerprint ON trial (fingerprint);

CREATE TABLE binary (
  digest TEXT NOT NULL CHECK (length(digest) = 64),
  source_digest TEXT NOT NULL,
  compiler TEXT NOT NULL,
  format INTEGER NOT NULL,
  entry TEXT NOT NULL,
  target TEXT NOT NULL,
  registers INTEGER NOT NULL,
  spill_bytes INTEGER NOT NULL,
  log TEXT NOT NULL,
  bytes BLOB NOT NULL,
  put_at_unix_s INTEGER NOT NULL,
  PRIMARY KEY (digest, source_digest, compiler)
) STRICT;
CREATE INDEX binary_by_source ON binary (source_digest, compiler);

CREATE TABLE lease (
  key TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
  owner TEXT NOT NULL CHECK (owner <> ''),
  pid INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  expires_boot_ms INTEGER NOT NULL,
  expires_unix_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA application_id = 1852797549;
PRAGMA user_version = 1;
)";

// Version 2: what the catalog offered when a winner was tuned; empty where nobody wrote it down.
inline constexpr char version_2[] = R"(
ALTER TABLE winner ADD COLUMN catalog_digest TEXT NOT NULL DEFAULT '';
PRAGMA user_version = 2;
)";

// For whoever may only read a file of version 1: in this connection the name stands for the table
// as it is now. The columns are listed, so that it holds when another process takes the step.
inline constexpr char version_1_as_now[] = R"(
CREATE TEMP VIEW winner AS SELECT
  key, fingerprint, candidate, launch, template_digest, binary_digest, measurements, median_ns,
  default_candidate, default_measurements, default_median_ns, ties, device_name, device_uuid,
  driver, compiler, tuned_by, tuned_at_unix_s, tuning_ms, pinned, used_at_unix_s,
  '' AS catalog_digest
FROM main.winner;
)";

// What a connection is set to. The checkpoint is ours alone to start (tidy and large logs).
inline constexpr char configure[] =
    "PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"
    "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;"
    "PRAGMA journal_size_limit = 1048576;";
inline constexpr char write_ahead_log[] = "PRAGMA journal_mode = WAL";
inline constexpr char application_id[] = "PRAGMA application_id";
inline constexpr char user_version[] = "PRAGMA user_version";
inline constexpr char data_version[] = "PRAGMA data_version";
inline constexpr char quick_check[] = "PRAGMA quick_check(1)";
// 256 MiB in pages of 4 KiB: what may wait in memory for a disk that cannot be written.
inline constexpr char memory_limit[] = "PRAGMA max_page_count = 65536";
inline constexpr char count_schema[] = "SELECT count(*) FROM sqlite_schema";
inline constexpr char begin[] = "BEGIN IMMEDIATE";
inline constexpr char commit[] = "COMMIT";
inline constexpr char rollback[] = "ROLLBACK";

#define NORMD_DEVICE_COLUMNS "fingerprint, name, uuid, driver, seen_at_unix_s"
#define NORMD_WINNER_COLUMNS                                                            \
  "key, fingerprint, candidate, launch, template_digest, binary_digest, measurements, " \
  "median_ns, default_candidate, default_measurements, default_median_ns, ties, "       \
  "device_name, device_uuid, driver, compiler, tuned_by, tuned_at_unix_s, tuning_ms, "  \
  "pinned, used_at_unix_s, catalog_digest"
#define NORMD_TRIAL_COLUMNS                                                                   \
  "key, fingerprint, candidate, compiler, verdict, reason, detail, measurements, median_ns, " \
  "error_over_bound, binary_digest, registers, spill_bytes, shared_bytes, blocks_per_sm, "    \
  "sightings, put_at_unix_s"
#define NORMD_BINARY_COLUMNS                                                              \
  "digest, source_digest, compiler, format, entry, target, registers, spill_bytes, log, " \
  "bytes, put_at_unix_s"
#define NORMD_17_VALUES "?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17"
#define NORMD_22_VALUES NORMD_17_VALUES ",?18,?19,?20,?21,?22"

// A name that is already there is kept when the new row has none: trials come before the winner.
inline constexpr char put_device[] =
    "INSERT INTO device (" NORMD_DEVICE_COLUMNS
    ") VALUES (?1,?2,?3,?4,?5) "
    "ON CONFLICT (fingerprint) DO UPDATE SET name = excluded.name, uuid = excluded.uuid, "
    "driver = excluded.driver, seen_at_unix_s = excluded.seen_at_unix_s "
    "WHERE excluded.name <> ''";
inline constexpr char put_winner[] =
    "INSERT OR REPLACE INTO winner (" NORMD_WINNER_COLUMNS ") SELECT " NORMD_22_VALUES
    " WHERE NOT EXISTS (SELECT 1 FROM winner WHERE key = ?1 AND pinned = 1)";
inline constexpr char put_trial[] =
    "INSERT OR REPLACE INTO trial (" NORMD_TRIAL_COLUMNS ") VALUES (" NORMD_17_VALUES ")";
inline constexpr char put_binary[] = "INSERT OR REPLACE INTO binary (" NORMD_BINARY_COLUMNS
                                     ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";

inline constexpr char find_winner[] = "SELECT " NORMD_WINNER_COLUMNS " FROM winner WHERE key = ?1";
inline constexpr char list_winners[] = "SELECT " NORMD_WINNER_COLUMNS
                                       " FROM winner WHERE key > ?1 AND (?2 = '' OR "
                                       "instr(key, ?2) > 0) ORDER BY key";
inline constexpr char find_trials[] = "SELECT " NORMD_TRIAL_COLUMNS
                                      " FROM trial WHERE key = ?1 "
                                      "ORDER BY verdict, median_ns, candidate, compiler";
// A trial under the asked compiler first, then the latest measured one.
inline constexpr char find_trial[] =
    "SELECT " NORMD_TRIAL_COLUMNS
    " FROM trial WHERE key = ?1 AND candidate = ?2 AND (verdict = 1 OR compiler = ?3) "
    "ORDER BY compiler = ?3 DESC, put_at_unix_s DESC, compiler";
inline constexpr char find_binary[] =
    "SELECT " NORMD_BINARY_COLUMNS " FROM binary WHERE digest = ?1 ORDER BY put_at_unix_s DESC";
inline constexpr char find_binary_of_source[] =
    "SELECT " NORMD_BINARY_COLUMNS
    " FROM binary WHERE source_digest = ?1 AND compiler = ?2 ORDER BY put_at_unix_s DESC";

// Only binaries of the forgotten key go, and of them only those that no other key needs: a binary
// whose trial is still running elsewhere has no row that points at it yet.
inline constexpr char forget_binaries[] =
    "DELETE FROM binary WHERE digest IN (SELECT binary_digest FROM winner WHERE key = ?1 "
    "UNION SELECT binary_digest FROM trial WHERE key = ?1) "
    "AND NOT EXISTS (SELECT 1 FROM winner WHERE binary_digest = binary.digest AND key <> ?1) "
    "AND NOT EXISTS (SELECT 1 FROM trial WHERE binary_digest = binary.digest AND key <> ?1)";
inline constexpr char forget_winner[] = "DELETE FROM winner WHERE key = ?1";
inline constexpr char forget_trials[] = "DELETE FROM trial WHERE key = ?1";
inline constexpr char set_pinned[] = "UPDATE winner SET pinned = ?2 WHERE key = ?1";
inline constexpr char stamp_used[] =
    "UPDATE winner SET used_at_unix_s = ?2 WHERE key = ?1 AND used_at_unix_s < ?2 - 3600";
inline constexpr char count_winners[] = "SELECT count(*) FROM winner";
inline constexpr char count_trials[] = "SELECT count(*) FROM trial";
inline constexpr char count_binaries[] = "SELECT count(*) FROM binary";

// The rows that a store too large can do without. A binary's row number tells its age: its time
// lies behind its bytes, which would all be read. A trial of late may be of a race under way.
inline constexpr char page_count[] = "PRAGMA page_count";
inline constexpr char free_page_count[] = "PRAGMA freelist_count";
inline constexpr char page_bytes[] = "PRAGMA page_size";
inline constexpr char evict_binaries[] =
    "DELETE FROM binary WHERE put_at_unix_s < ?1 AND rowid IN (SELECT rowid FROM binary WHERE "
    "NOT EXISTS (SELECT 1 FROM winner WHERE binary_digest = binary.digest) AND NOT EXISTS "
    "(SELECT 1 FROM trial WHERE binary_digest = binary.digest AND put_at_unix_s >= ?1) "
    "ORDER BY rowid LIMIT ?2)";
inline constexpr char find_idle_keys[] =
    "SELECT key FROM (SELECT key, pinned, used_at_unix_s AS used FROM winner UNION ALL "
    "SELECT key, 0, max(put_at_unix_s) FROM trial WHERE NOT EXISTS "
    "(SELECT 1 FROM winner WHERE winner.key = trial.key) GROUP BY key) "
    "WHERE pinned = 0 AND used < ?1 ORDER BY used, key LIMIT ?2";

// Copying between databases: all rows of a table, written by put_* above or, where the rows that
// are there already must stay, by keep_*.
inline constexpr char all_devices[] = "SELECT " NORMD_DEVICE_COLUMNS " FROM device";
inline constexpr char all_winners[] = "SELECT " NORMD_WINNER_COLUMNS " FROM winner";
inline constexpr char all_trials[] = "SELECT " NORMD_TRIAL_COLUMNS " FROM trial";
inline constexpr char all_binaries[] = "SELECT " NORMD_BINARY_COLUMNS " FROM binary";
inline constexpr char keep_winner[] =
    "INSERT OR IGNORE INTO winner (" NORMD_WINNER_COLUMNS ") VALUES (" NORMD_22_VALUES ")";
inline constexpr char keep_trial[] =
    "INSERT OR IGNORE INTO trial (" NORMD_TRIAL_COLUMNS ") VALUES (" NORMD_17_VALUES ")";
inline constexpr char keep_binary[] = "INSERT OR IGNORE INTO binary (" NORMD_BINARY_COLUMNS
                                      ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";
inline constexpr char clear[] =
    "DELETE FROM winner; DELETE FROM trial; DELETE FROM binary; DELETE FROM device;"
    "DELETE FROM lease;";

// A lease is free when there is no row, when it is the asker's own, or when it has run out: by the
// clock since boot within one boot of one machine, else by the wall clock with 60 s of doubt, for
// clocks of two machines differ.
inline constexpr char take_lease[] =
    "INSERT INTO lease (key, owner, pid, boot_id, expires_boot_ms, expires_unix_ms) "
    "VALUES (?1, ?2, ?3, ?4, ?5 + ?7, ?6 + ?7) ON CONFLICT (key) DO UPDATE SET "
    "owner = excluded.owner, pid = excluded.pid, boot_id = excluded.boot_id, "
    "expires_boot_ms = excluded.expires_boot_ms, expires_unix_ms = excluded.expires_unix_ms "
    "WHERE lease.owner = excluded.owner OR CASE "
    "WHEN lease.boot_id = excluded.boot_id AND lease.boot_id <> '' "
    "THEN lease.expires_boot_ms <= ?5 ELSE lease.expires_unix_ms + 60000 <= ?6 END";
inline constexpr char find_lease_here[] =
    "SELECT owner, pid FROM lease WHERE key = ?1 AND boot_id = ?2 AND boot_id <> ''";
inline constexpr char find_lease_of[] = "SELECT 1 FROM lease WHERE key = ?1 AND owner = ?2";
inline constexpr char release_lease[] = "DELETE FROM lease WHERE key = ?1 AND owner = ?2";

#undef NORMD_DEVICE_COLUMNS
#undef NORMD_WINNER_COLUMNS
#undef NORMD_TRIAL_COLUMNS
#undef NORMD_BINARY_COLUMNS
#undef NORMD_17_VALUES
#undef NORMD_22_VALUES

}  // namespace normd::sql
