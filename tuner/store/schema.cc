#include "tuner/store/schema.h"

#include "tuner/store/sql.h"

namespace normd {
namespace {

constexpr Migration steps_to_now[] = {{.to_version = 1, .sql = sql::version_1},
                                      {.to_version = 2, .sql = sql::version_2}};

Result<bool> take_step(Database& database, const Migration& step) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return fail(transaction.error());
  // Read under the lock: another process may have taken the step meanwhile.
  const Result<std::int64_t> version = database.integer(sql::user_version);
  if (!version) return fail(version.error());
  if (*version >= step.to_version) return false;
  if (auto done = database.execute(step.sql); !done) return fail(done.error());
  const Result<std::int64_t> reached = database.integer(sql::user_version);
  if (!reached) return fail(reached.error());
  if (*reached != step.to_version) {
    return fail(ErrorCode::internal, "the step to schema version " +
                                         std::to_string(step.to_version) + " reached version " +
                                         std::to_string(*reached));
  }
  if (auto done = transaction->commit(); !done) return fail(done.error());
  return true;
}

Result<FileJudgement> judge_readable(Database& database, bool thorough) {
  const Result<std::int64_t> id = database.integer(sql::application_id);
  if (!id) return fail(id.error());
  const Result<std::int64_t> version = database.integer(sql::user_version);
  if (!version) return fail(version.error());
  const Result<std::int64_t> objects = database.integer(sql::count_schema);
  if (!objects) return fail(objects.error());
  if (*id != store_application_id && (*objects > 0 || *id != 0)) {
    return FileJudgement{FileKind::foreign, "its application_id is " + std::to_string(*id) +
                                                ", not " + std::to_string(store_application_id)};
  }
  if (*version > store_schema_version) {
    return FileJudgement{FileKind::newer, "its schema version is " + std::to_string(*version) +
                                              ", this program knows " +
                                              std::to_string(store_schema_version)};
  }
  if (thorough) {
    const Result<std::string> words = database.text(sql::quick_check);
    if (!words) return fail(words.error());
    if (*words != "ok") return FileJudgement{FileKind::damaged, "quick_check: " + *words};
  }
  return FileJudgement{*objects == 0 ? FileKind::empty : FileKind::store, {}};
}

}  // namespace

std::span<const Migration> migrations() {
  return steps_to_now;
}

Result<bool> migrate(Database& database, std::span<const Migration> steps) {
  Result<std::int64_t> version = database.integer(sql::user_version);
  if (!version) return fail(version.error());
  bool any = false;
  for (const Migration& step : steps) {
    if (*version >= step.to_version) continue;  // without a lock: most openings have nothing to do
    const Result<bool> taken = take_step(database, step);
    if (!taken) return taken;
    any = any || *taken;
  }
  return any;
}

Result<void> view_as_now(Database& database) {
  const Result<std::int64_t> version = database.integer(sql::user_version);
  if (!version) return fail(version.error());
  return *version == 1 ? database.execute(sql::version_1_as_now) : Result<void>{};
}

Result<FileJudgement> judge(Database& database, bool thorough) {
  auto judgement = judge_readable(database, thorough);
  if (!judgement && judgement.error().code == ErrorCode::data_loss) {
    return FileJudgement{FileKind::damaged, judgement.error().message};
  }
  return judgement;
}

}  // namespace normd
