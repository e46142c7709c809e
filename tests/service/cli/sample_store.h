// A directory of a test's own, and made-up winners for a store in it, told apart by a number.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "kernels/digest.h"
#include "tuner/store/store.h"

namespace normd {

class SampleFolder {
 public:
  SampleFolder() : path_(std::filesystem::temp_directory_path() / unique_name()) {
    std::filesystem::create_directory(path_);
  }
  SampleFolder(const SampleFolder&) = delete;
  ~SampleFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  static std::string unique_name() {
    static std::atomic<int> count = 0;
    return "normd-cli-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  }
  std::filesystem::path path_;
};

inline Key stored_key(int number) {
  const DeviceSpec spec = *architecture_preset("sm_90");
  const Problem problem{.rows = 200, .columns = 64 + number, .x = DType::bf16, .y = DType::bf16};
  return make_key(problem, spec, make_fingerprint(spec), BucketMode::bucketed);
}

inline Candidate stored_candidate(int threads) {
  return {.template_name = "block_registers",
          .values = {{"threads", threads}, {"vector_bytes", 16}, {"rows_per_block", 1}}};
}

inline std::vector<Measurement> stored_measurements(double median_ns) {
  return {{.rows = 128, .median_ns = median_ns / 3, .low_ns = 1, .high_ns = 2, .samples = 9},
          {.rows = 256,
           .cache = CacheState::warm,
           .median_ns = median_ns / 2,
           .low_ns = 1,
           .high_ns = 2,
           .samples = 7},
          {.rows = 256,
           .median_ns = median_ns,
           .low_ns = 1,
           .high_ns = 2,
           .samples = 7,
           .sm_clock_mhz = 1965}};
}

inline Binary stored_binary(int number) {
  const std::string bytes = "cubin " + std::to_string(number);
  return {.bytes = bytes,
          .digest = sha256_hex(bytes),
          .source_digest = sha256_hex("source " + std::to_string(number)),
          .entry = "normd_kernel",
          .target = "sm_90",
          .compiler = "NVRTC 13.0",
          .registers = 40,
          .spill_bytes = 0};
}

inline Winner stored_winner(int number) {
  return {.key = stored_key(number),
          .candidate = stored_candidate(256),
          .launch = {.entries = {"normd_kernel"}, .block = 256, .shared_bytes = 64},
          .template_digest = sha256_hex("no text of ours"),
          .binary_digest = stored_binary(number).digest,
          .measurements = stored_measurements(1000.0 + number),
          .default_candidate = stored_candidate(128),
          .default_measurements = stored_measurements(2000.5),
          .ties = {stored_candidate(512), stored_candidate(1024)},
          .device_name = "A made-up device",
          .device_uuid = "GPU-00000000",
          .driver = "13.0 (580.159)",
          .compiler = "NVRTC 13.0",
          .tuned_by = "a test",
          .tuned_at_unix_s = 1'700'000'000,
          .tuning_ms = 1234};
}

// One that was measured, and one that was refused in words that try to break the line.
inline std::vector<Trial> stored_race(int number) {
  const Trial measured{.candidate = stored_candidate(256),
                       .verdict = {.kind = VerdictKind::measured,
                                   .measurements = stored_measurements(1000.0 + number)},
                       .binary_digest = stored_binary(number).digest,
                       .compiler = "NVRTC 13.0",
                       .registers = 40,
                       .spill_bytes = 0,
                       .shared_bytes = 64,
                       .blocks_per_sm = 8};
  const Trial refused{.candidate = stored_candidate(32),
                      .verdict = {.kind = VerdictKind::refused,
                                  .reason = Reason::wrong_result,
                                  .detail = "row 3, column 5:\ngot 'nan', expected 0.5"},
                      .compiler = "NVRTC 13.0"};
  return {measured, refused};
}

}  // namespace normd
