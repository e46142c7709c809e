#include "tests/tuner/store/store_samples.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/check.h"
#include "kernels/digest.h"

namespace normd {
namespace {

Candidate sample_candidate(int threads) {
  return {.template_name = "block_registers",
          .values = {{"threads", threads}, {"vector_bytes", 16}, {"rows_per_block", 1}}};
}

std::vector<Measurement> sample_measurements(double median_ns) {
  return {{.rows = 128, .median_ns = median_ns / 3, .low_ns = 0.1, .high_ns = 1e9, .samples = 9},
          {.rows = 256,
           .cache = CacheState::warm,
           .median_ns = median_ns / 2,
           .low_ns = 1,
           .high_ns = 2,
           .samples = 7,
           .copy_ns = 3},
          {.rows = 256, .median_ns = median_ns, .low_ns = 1, .high_ns = 2, .samples = 7}};
}

sqlite3* connect(const std::string& path) {
  sqlite3* connection = nullptr;
  NORMD_CHECK(sqlite3_open(path.c_str(), &connection) == SQLITE_OK);
  sqlite3_busy_timeout(connection, 5000);
  return connection;
}

}  // namespace

Key sample_key(int number) {
  const DeviceSpec spec = *architecture_preset("sm_90");
  const Problem problem{.rows = 200, .columns = 64 + number, .x = DType::bf16, .y = DType::bf16};
  return make_key(problem, spec, make_fingerprint(spec), BucketMode::bucketed);
}

Winner sample_winner(int number) {
  return {.key = sample_key(number),
          .candidate = sample_candidate(256),
          .launch = {.entries = {"normd_kernel"}, .block = 256, .shared_bytes = 64},
          .template_digest = sha256_hex("template"),
          .binary_digest = sample_binary(number).digest,
          .measurements = sample_measurements(1000.0 / 3 + number),
          .default_candidate = sample_candidate(128),
          .default_measurements = sample_measurements(2000.5),
          .ties = {sample_candidate(512), sample_candidate(1024)},
          .device_name = "A made-up device",
          .device_uuid = "GPU-00000000",
          .driver = "13.0 (580.159)",
          .compiler = "NVRTC 13.0",
          .catalog_digest = "what there was to try",
          .tuned_by = "a test",
          .tuned_at_unix_s = 1'700'000'000 + number,
          .tuning_ms = 1234};
}

Trial measured_trial(int number) {
  return {.candidate = sample_candidate(32 + number),
          .verdict = {.kind = VerdictKind::measured,
                      .measurements = sample_measurements(500.25 + number),
                      .error_over_bound = 0.125},
          .binary_digest = sample_binary(number).digest,
          .compiler = "NVRTC 13.0",
          .registers = 40,
          .spill_bytes = 0,
          .shared_bytes = 128,
          .blocks_per_sm = 8};
}

Trial refused_trial(int number, const std::string& compiler) {
  return {.candidate = sample_candidate(32 + number),
          .verdict = {.kind = VerdictKind::refused,
                      .reason = Reason::wrong_result,
                      .detail = "row 3, column 5:\ngot 'nan', expected 0.5",
                      .error_over_bound = 1e300},
          .compiler = compiler};
}

Binary sample_binary(int number) {
  // With zero bytes and every other byte value in it, of the size of a real cubin.
  std::string bytes = "cubin " + std::to_string(number);
  for (int i = 0; i < 16'000; ++i) bytes += static_cast<char>(i * 7 + number);
  return {.format = BinaryFormat::cubin,
          .bytes = bytes,
          .digest = sha256_hex(bytes),
          .source_digest = sha256_hex("source " + std::to_string(number)),
          .entry = "normd_kernel",
          .target = "sm_90",
          .compiler = "NVRTC 13.0",
          .registers = 40,
          .spill_bytes = 0,
          .log = "ptxas info: fine\n"};
}

StoreDirectory::StoreDirectory() : path_("/tmp/normd-store-test-XXXXXX") {
  NORMD_CHECK(::mkdtemp(path_.data()) != nullptr);
  NORMD_CHECK(::chmod(path_.c_str(), 0755) == 0);
}

StoreDirectory::~StoreDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> StoreDirectory::names(const std::string& beginning) const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(beginning)) found.push_back(name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  NORMD_CHECK(file.flush().good());
}

std::unique_ptr<Store> open_store(const std::string& directory, Store::Mode mode) {
  auto store = Store::open(directory, mode);
  if (!store) std::fprintf(stderr, "%s\n", store.error().message.c_str());
  NORMD_CHECK(store.has_value());
  return std::move(*store);
}

bool has_winner(Store& store, int number) {
  const auto found = store.find_winner(sample_key(number));
  return found && *found == sample_winner(number);
}

void make_store(const std::string& directory, int count) {
  auto store = open_store(directory);
  for (int number = 0; number < count; ++number) {
    NORMD_CHECK(store->put_binary(sample_binary(number)).has_value());
    NORMD_CHECK(store->put_winner(sample_winner(number), {measured_trial(number)}).has_value());
  }
}

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* connection = connect(path);
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) std::fprintf(stderr, "%s\n", sqlite3_errmsg(connection));
  NORMD_CHECK(code == SQLITE_OK);
  NORMD_CHECK(sqlite3_close(connection) == SQLITE_OK);
}

std::string ask_sql(const std::string& path, const std::string& sql) {
  sqlite3* connection = connect(path);
  sqlite3_stmt* statement = nullptr;
  std::string answer;
  if (sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    answer = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  } else {
    answer = sqlite3_errmsg(connection);
  }
  sqlite3_finalize(statement);
  sqlite3_close(connection);
  return answer;
}

}  // namespace normd
