// What tests of the host device share: kernel texts written in the test, put behind the platform
// texts and compiled, and arrays in device memory. For test programs only; one thread.
#pragma once

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/arguments.h"
#include "kernels/digest.h"
#include "kernels/text_expansion.h"
#include "tuner/compiler/host_compiler.h"
#include "tuner/device/device.h"
#include "tuner/device/host/host_device.h"

namespace normd {

// The file with every file of ours that it includes written out in place, but for the CUDA bodies.
inline std::string written_out(const std::string& name) {
  std::istringstream file{std::string(kernel_text(name))};
  EXPECT_NE(file.peek(), EOF) << name;
  std::ostringstream text;
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view include = "#include \"";
    if (line == "#pragma once") continue;
    if (!line.starts_with(include)) {
      text << line << '\n';
    } else if (line.find("_cuda.cuh") == std::string::npos) {
      text << written_out(line.substr(include.size(), line.rfind('"') - include.size()));
    }
  }
  return text.str();
}

// `kernels` holds any number of NORMD_KERNELs and is written as if inside namespace normd.
inline Source host_source(std::string_view kernels) {
  Source source{.text = written_out("arguments.h") + written_out("platform.cuh") +
                        "using namespace normd;\n" + std::string(kernels),
                .entry = "test_kernel",
                .target = "host"};
  source.digest = sha256_hex(source.text);
  return source;
}

inline Binary compiled(std::string_view kernels) {
  Result<Binary> binary = compile_with_host_compiler(host_source(kernels));
  EXPECT_TRUE(binary) << binary.error().message;
  return binary.value_or(Binary{});
}

// `count` elements in device memory.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(Device& device, std::span<const T> values) : device_(device) {
    auto memory = device.allocate(values.size_bytes());
    EXPECT_TRUE(memory) << memory.error().message;
    memory_ = std::move(*memory);
    EXPECT_TRUE(device.copy_in(memory_->address(), values.data(), values.size_bytes()));
  }
  DeviceArray(Device& device, std::size_t count) : DeviceArray(device, std::vector<T>(count)) {}
  T* address() { return static_cast<T*>(memory_->address()); }
  std::vector<T> values() {
    std::vector<T> values(memory_->bytes() / sizeof(T));
    EXPECT_TRUE(device_.copy_out(values.data(), memory_->address(), memory_->bytes()));
    return values;
  }

 private:
  Device& device_;
  std::unique_ptr<Memory> memory_;
};

struct HostRun {
  std::string entry = "test_kernel";
  int block = 32;
  int shared_bytes = 0;
  std::int64_t rows = 1;
  std::int64_t rows_per_block = 1;
  bool cooperative = false;
};

inline Launch launch_of(const HostRun& run) {
  return {.entries = {run.entry},
          .block = run.block,
          .shared_bytes = run.shared_bytes,
          .cooperative = run.cooperative,
          .rows_per_block = run.rows_per_block};
}

// Loads and launches once.
inline Result<void> launch_once(Device& device, const Binary& binary, const HostRun& run,
                                const NormArguments& arguments) {
  auto kernel = device.load(binary, launch_of(run));
  if (!kernel) return fail(kernel.error());
  return device.launch({kernel->get(), bytes_of(arguments), run.rows});
}

inline std::unique_ptr<Device> host_device(HostSchedule schedule = {}) {
  auto device = open_host_device("host", schedule);
  EXPECT_TRUE(device) << device.error().message;
  return std::move(*device);
}

// Runs `run` once on a zeroed y of `outputs` floats, which is returned.
inline std::vector<float> outputs_of(Device& device, const Binary& binary, const HostRun& run,
                                     std::size_t outputs, NormArguments arguments = {}) {
  DeviceArray<float> y(device, outputs);
  arguments.y = y.address();
  const auto done = launch_once(device, binary, run, arguments);
  EXPECT_TRUE(done) << done.error().message;
  return y.values();
}

// Runs the kernel `entry` of 64 threads once, with `input` as x and its length as columns, and
// returns the `outputs` values of y.
template <typename In, typename Out>
std::vector<Out> outputs_for(const Binary& binary, const std::string& entry,
                             const std::vector<In>& input, std::size_t outputs, int blocks = 1) {
  const auto device = host_device();
  DeviceArray<In> x(*device, std::span(input));
  DeviceArray<Out> y(*device, outputs);
  const NormArguments arguments{.x = x.address(),
                                .y = y.address(),
                                .rows = blocks,
                                .columns = static_cast<long long>(input.size())};
  const auto done =
      launch_once(*device, binary,
                  {.entry = entry, .block = 64, .shared_bytes = 256, .rows = blocks}, arguments);
  EXPECT_TRUE(done) << done.error().message;
  return y.values();
}

// Compiles a text once for all tests of a suite.
class CompiledOnce {
 public:
  explicit CompiledOnce(std::string_view kernels) : kernels_(kernels) {}
  const Binary& operator*() {
    if (binary_.bytes.empty()) binary_ = compiled(kernels_);
    return binary_;
  }

 private:
  std::string_view kernels_;
  Binary binary_;
};

}  // namespace normd
