// normd_prebuild: compiles the fallback and the checker for every supported architecture, as PTX
// and for the host, and writes them into one file (prebuilt_archive.h). Run by CMake while the
// project is built; it needs no GPU. What an earlier run compiled from the same source is taken
// over.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "kernels/check.h"
#include "kernels/source.h"
#include "tuner/compiler/compiler.h"
#include "tuner/compiler/prebuilt_archive.h"

namespace normd {
namespace {

struct Job {
  Prebuilt kernel;
  Source source;
};

// PTX besides machine code. Of sm_120 for chips that come after the newest listed; of sm_100 for
// those of major version 11, which load neither its machine code nor PTX of 12.
constexpr const char* ptx_architectures[] = {"100", "120"};

Source render_prebuilt(Prebuilt kernel, std::string_view target) {
  switch (kernel) {
    case Prebuilt::any_columns:
      return render_any_columns(target);
    case Prebuilt::check_rows:
      return render_check_rows(target);
    case Prebuilt::compare_bytes:
      return render_compare_bytes(target);
  }
  NORMD_CHECK(false);
}

// The text for the architecture, stopped at PTX.
Source render_ptx(Prebuilt kernel, const std::string& architecture) {
  Source source = render_prebuilt(kernel, "sm_" + architecture);
  source.target = "compute_" + architecture;
  return source;
}

std::vector<Job> all_jobs() {
  std::vector<Job> jobs;
  for (const Prebuilt kernel : all_prebuilt) {
    for (const std::string& target : supported_architectures()) {
      jobs.push_back({.kernel = kernel, .source = render_prebuilt(kernel, target)});
    }
    for (const char* architecture : ptx_architectures) {
      jobs.push_back({.kernel = kernel, .source = render_ptx(kernel, architecture)});
    }
    jobs.push_back({.kernel = kernel, .source = render_prebuilt(kernel, "host")});
  }
  return jobs;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const Binary* find_done(const std::vector<PrebuiltEntry>& done, const Source& source,
                        const std::string& compiler) {
  for (const PrebuiltEntry& entry : done) {
    const Binary& binary = entry.binary;
    if (binary.source_digest == source.digest && binary.target == source.target &&
        binary.compiler == compiler) {
      return &binary;
    }
  }
  return nullptr;
}

Result<Binary> build_one(const Job& job, const std::vector<PrebuiltEntry>& done,
                         const CompilerPlaces& places) {
  const Result<std::string> compiler = compiler_version(job.source.target, places);
  if (!compiler) return fail(compiler.error());
  if (const Binary* same = find_done(done, job.source, *compiler); same != nullptr) return *same;
  return compile(job.source, places);
}

// On all cores: the fallback alone takes seconds for each architecture. Each thread takes the next
// job and writes to that job's own place.
Result<std::vector<PrebuiltEntry>> build_all(const std::vector<PrebuiltEntry>& done,
                                             const CompilerPlaces& places) {
  const std::vector<Job> jobs = all_jobs();
  std::vector<Result<Binary>> binaries(jobs.size());
  {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads(std::max(1u, std::thread::hardware_concurrency()));
    for (std::jthread& thread : threads) {
      thread = std::jthread([&] {
        for (std::size_t i = next++; i < jobs.size(); i = next++) {
          binaries[i] = build_one(jobs[i], done, places);
        }
      });
    }
  }
  std::vector<PrebuiltEntry> entries;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!binaries[i]) return fail(std::move(binaries[i].error()));
    entries.push_back({.kernel = jobs[i].kernel, .binary = *std::move(binaries[i])});
  }
  return entries;
}

int run(const std::string& output, const CompilerPlaces& places) {
  const std::string before = read_file(output);
  const auto done = unpack_prebuilt(before);
  const auto entries = build_all(done.value_or(std::vector<PrebuiltEntry>{}), places);
  if (!entries) {
    std::fprintf(stderr, "normd_prebuild: %s\n", entries.error().message.c_str());
    return 1;
  }
  const std::string archive = pack_prebuilt(*entries);
  if (archive == before) return 0;  // its time stays, so nothing is linked again
  const std::string aside = output + ".new";
  std::ofstream file(aside, std::ios::binary);
  file << archive;
  file.close();
  if (!file || std::rename(aside.c_str(), output.c_str()) != 0) {
    std::fprintf(stderr, "normd_prebuild: cannot write %s\n", output.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace normd

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: normd_prebuild OUTPUT_FILE NVRTC_LIBRARY\n");
    return 2;
  }
  return normd::run(arguments[1], {.nvrtc_library = arguments[2]});
}
