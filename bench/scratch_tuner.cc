#include "bench/scratch_tuner.h"

#include <unistd.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "service/client/places.h"
#include "tuner/device/open_device.h"

namespace normd {
namespace {

std::string daemon_path() {
  char path[PATH_MAX];
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path));
  const std::string self(path, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return std::filesystem::path(self).replace_filename("normd");
}

}  // namespace

Result<StudyDevice> open_study_device(const std::string& name) {
  const auto device = open_device(name);
  if (!device) return fail(device.error());
  return StudyDevice{.name = name,
                     .spec = (*device)->spec(),
                     .identity = (*device)->identity(),
                     .worker = {daemon_path(), "worker"},
                     .turn_directory = turn_directory(geteuid())};
}

Result<ScratchTuner> ScratchTuner::create(const StudyDevice& device, const std::string& tuned_by) {
  auto directory = TemporaryDirectory::create();
  if (!directory) return fail(std::move(directory.error()));
  ScratchTuner scratch(std::move(*directory));
  auto store = Store::open(scratch.directory_.path(), Store::Mode::read_write);
  if (!store) return fail(std::move(store.error()));
  scratch.store_ = std::move(*store);
  scratch.tuner_ = std::make_unique<Tuner>(TunerParts{.store = scratch.store_.get(),
                                                      .worker = device.worker,
                                                      .device = device.name,
                                                      .spec = device.spec,
                                                      .identity = device.identity,
                                                      .turn_directory = device.turn_directory,
                                                      .tuned_by = tuned_by});
  return scratch;
}

Result<std::string> contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::invalid_argument, path + " cannot be read", "file");
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Result<std::vector<WarmShape>> listed_shapes(const std::string& path, const DeviceSpec& spec) {
  const auto text = contents_of(path);
  if (!text) return fail(text.error());
  auto shapes = parse_warm_list(*text, path);
  if (!shapes) return shapes;
  for (WarmShape& shape : *shapes) shape.problem.align_bytes = spec.vector_bytes_max;
  return shapes;
}

}  // namespace normd
