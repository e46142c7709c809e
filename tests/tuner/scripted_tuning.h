// ScriptedTuning: what the tests of the tuner share: a directory with a script and a store, and the
// command of the scripted worker, which lies beside the test program. Made once per test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "kernels/catalog.h"
#include "kernels/digest.h"
#include "kernels/row_bucket.h"
#include "kernels/source.h"
#include "tests/tuner/script.h"
#include "tuner/store/store.h"
#include "tuner/tuner.h"

namespace normd {

class ScriptedTuning : public testing::Test {
 protected:
  ScriptedTuning() {
    std::string name = testing::TempDir() + "normd_tuning_XXXXXX";
    directory_ = mkdtemp(name.data());
    std::filesystem::create_directory(directory_ + "/script");
    script_ = std::make_unique<Script>(directory_ + "/script");
    store_ = *Store::open(directory_ + "/store", Store::Mode::read_write);
  }
  ~ScriptedTuning() override { std::filesystem::remove_all(directory_); }

  static std::string program() {
    return std::filesystem::read_symlink("/proc/self/exe").replace_filename("scripted_worker");
  }
  std::vector<std::string> worker() const { return {program(), directory_ + "/script"}; }

  std::unique_ptr<Tuner> make_tuner(Store& store, int compile_workers = 2) const {
    return std::make_unique<Tuner>(TunerParts{.store = &store,
                                              .worker = worker(),
                                              .device = "made up",
                                              .spec = spec_,
                                              .identity = {.name = "made up", .uuid = "made up"},
                                              .compile_workers = compile_workers,
                                              .turn_directory = directory_ + "/turn",
                                              .tuned_by = "test"});
  }
  Result<Tuning> tune(Tuner& tuner, const TuneRequest& request) const {
    return tuner.tune(request, [](const TuneProgress&) {}, {});
  }
  TuneRequest request_of(std::int64_t columns, std::int64_t budget_ms = 2000) const {
    return {
        .problem = {.rows = 4, .columns = columns}, .budget_ms = budget_ms, .candidates_max = 6};
  }

  Key key_of(std::int64_t columns) const {
    return make_key(request_of(columns).problem, spec_, make_fingerprint(spec_),
                    BucketMode::bucketed);
  }
  // The candidates of a request in rank: the first is the default.
  std::vector<Candidate> ranked(std::int64_t columns) const {
    const Key key = key_of(columns);
    return ranked_candidates(problem_at(key, measured_rows(key.problem, spec_, key.bucket).back()),
                             spec_);
  }
  std::string text(std::int64_t columns, std::size_t rank) const {
    return to_text(ranked(columns)[rank]);
  }
  std::string source_digest(std::int64_t columns, std::size_t rank) const {
    return render(ranked(columns)[rank], request_of(columns).problem, spec_).digest;
  }

  const DeviceSpec spec_ = *architecture_preset("sm_90");  // nothing is launched on it
  std::string directory_;
  std::unique_ptr<Script> script_;
  std::unique_ptr<Store> store_;
};

}  // namespace normd
