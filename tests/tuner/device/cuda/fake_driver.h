// A stand-in for libcuda.so.1 and the management library: one shared library with the same symbols,
// which does what a test tells it and counts what is opened and closed. It shows what the code asks
// of the driver and what it makes of the driver's answers; only a GPU shows what a GPU does. Used
// from one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace normd {

struct FakeLaunch {
  unsigned grid = 0;
  unsigned block = 0;
  unsigned shared_bytes = 0;
  unsigned cluster = 1;
  bool cooperative = false;
  bool programmatic = false;
  bool while_recording = false;
};

// What is reserved and mapped of the GPU's virtual memory, by offset.
struct FakeAddresses {
  std::size_t reserved_bytes = 0;
  int memories = 0;  // made and not released
  std::map<std::uint64_t, std::size_t> mapped;
  std::string misuse;  // what a driver would have refused
};

struct FakeDriver {
  // What it answers: numbers of CUresult, 0 for success.
  int version = 13000;
  int device_count = 1;
  bool mig = false;
  std::map<std::string, int> results;  // by function, such as "cuInit"
  std::map<int, int> attributes;       // by CUdevice_attribute, over those of an H100
  int static_shared_bytes = 0;
  int occupancy_blocks = 2;
  int occupancy_clusters = 1;
  std::size_t argument_bytes = 8;
  std::string load_log;
  float elapsed_ms = 0;
  unsigned sm_clock_mhz = 1980;  // now, as the management library says
  unsigned memory_clock_mhz = 2619;
  unsigned long long clock_reasons = 0;  // a set of NVML's bits

  // What it saw.
  std::map<std::string, int> calls;  // by function
  int open_handles = 0;              // contexts, streams, events, modules, memory, graphs
  int dynamic_shared_bytes_allowed = 0;
  bool non_portable_cluster_allowed = false;
  bool recording = false;
  std::vector<FakeLaunch> launches;

  // Counts the call and gives the result that is asked of it.
  int answer(const std::string& function) {
    ++calls[function];
    const auto found = results.find(function);
    return found == results.end() ? 0 : found->second;
  }
  FakeAddresses addresses;
};

// The path of the library, those of two older management libraries (fake_old_management.cc), and
// the state of the one instance that is loaded, set back to the start.
std::string fake_driver_path();
std::string fake_old_management_path();
std::string fake_oldest_management_path();
FakeDriver& fresh_fake_driver();

}  // namespace normd
