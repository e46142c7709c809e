// ScratchTuner: a tuner on one device with a store of its own, empty at first and removed with it,
// so that what a study measures is compiled and measured now. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/daemon/warm_list.h"
#include "tuner/compiler/temporary_directory.h"
#include "tuner/store/store.h"
#include "tuner/tuner.h"

namespace normd {

// The device that a study is made on, as open_device names it, and who its workers are.
struct StudyDevice {
  std::string name;
  DeviceSpec spec;
  DeviceIdentity identity;
  std::vector<std::string> worker;  // the daemon beside the running program
  std::string turn_directory;
};
Result<StudyDevice> open_study_device(const std::string& name);

class ScratchTuner {
 public:
  static Result<ScratchTuner> create(const StudyDevice& device, const std::string& tuned_by);

  Tuner& tuner() { return *tuner_; }
  Store& store() { return *store_; }

 private:
  explicit ScratchTuner(TemporaryDirectory directory) : directory_(std::move(directory)) {}

  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;  // in it
  std::unique_ptr<Tuner> tuner_;  // of it
};

// The whole of a file; invalid_argument names it.
Result<std::string> contents_of(const std::string& path);

// The shapes of a list (warm_list.h), in tensors as aligned as a device's widest access.
Result<std::vector<WarmShape>> listed_shapes(const std::string& path, const DeviceSpec& spec);

}  // namespace normd
