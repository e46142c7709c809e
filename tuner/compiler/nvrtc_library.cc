#include "tuner/compiler/nvrtc_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace normd {
namespace {

constexpr const char* library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// nvrtcGetCUBIN and nvrtcGetSupportedArchs came with 11.2; below 12 no cluster or 16-bit pair
// conversion that the kernel texts use compiles.
constexpr int nvrtc_major_min = 12;

std::vector<std::string> places_to_try(const std::string& explicit_path) {
  if (!explicit_path.empty()) return {explicit_path};
  std::vector<std::string> places;
  const auto add_folder = [&](const std::filesystem::path& folder) {
    for (const char* name : library_names) places.push_back((folder / name).string());
  };
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) add_folder((program.parent_path() / ".." / "lib").lexically_normal());
  for (const char* name : library_names) places.emplace_back(name);
  add_folder("/usr/local/cuda/lib64");
#ifdef NORMD_NVRTC_LIBRARY
  places.emplace_back(NORMD_NVRTC_LIBRARY);
#endif
  return places;
}

// The file behind a handle: with a bare name only the loader knows which one it took.
std::string path_of(const void* function, const std::string& asked_for) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return asked_for;
  return info.dli_fname;
}

template <typename Function>
bool find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

const char* first_missing_symbol(void* handle, NvrtcLibrary& library) {
#define NORMD_FIND(member, symbol) \
  if (!find(handle, #symbol, library.member)) return #symbol
  NORMD_FIND(get_error_string, nvrtcGetErrorString);
  NORMD_FIND(version, nvrtcVersion);
  NORMD_FIND(get_num_supported_archs, nvrtcGetNumSupportedArchs);
  NORMD_FIND(get_supported_archs, nvrtcGetSupportedArchs);
  NORMD_FIND(create_program, nvrtcCreateProgram);
  NORMD_FIND(destroy_program, nvrtcDestroyProgram);
  NORMD_FIND(compile_program, nvrtcCompileProgram);
  NORMD_FIND(get_program_log_size, nvrtcGetProgramLogSize);
  NORMD_FIND(get_program_log, nvrtcGetProgramLog);
  NORMD_FIND(get_cubin_size, nvrtcGetCUBINSize);
  NORMD_FIND(get_cubin, nvrtcGetCUBIN);
  NORMD_FIND(get_ptx_size, nvrtcGetPTXSize);
  NORMD_FIND(get_ptx, nvrtcGetPTX);
#undef NORMD_FIND
  return nullptr;
}

// Not every build of NVRTC looks for its builtins in its own folder. Once they are loaded from
// there, the loader gives it these whenever it asks by name; if they are not there, it goes on by
// itself, and its own message at the first compile says what is missing.
void load_builtins_beside(const NvrtcLibrary& library) {
  const auto folder = std::filesystem::path(library.path).parent_path();
  if (folder.empty()) return;
  const auto builtins = folder / ("libnvrtc-builtins.so." + std::to_string(library.major) + "." +
                                  std::to_string(library.minor));
  dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Fills in the version and the architectures; an Error's message is what is wrong with this file.
Result<NvrtcLibrary> library_of(void* handle, const std::string& asked_for) {
  NvrtcLibrary library;
  if (const char* missing = first_missing_symbol(handle, library); missing != nullptr) {
    return fail(ErrorCode::failed_precondition, std::string("has no ") + missing);
  }
  library.path = path_of(reinterpret_cast<const void*>(library.version), asked_for);
  if (library.version(&library.major, &library.minor) != NVRTC_SUCCESS) {
    return fail(ErrorCode::failed_precondition, "does not tell its version");
  }
  if (library.major < nvrtc_major_min) {
    return fail(ErrorCode::failed_precondition,
                "is " + library.name() + "; 12.0 is the oldest that serves");
  }
  int count = 0;
  if (library.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0) {
    return fail(ErrorCode::failed_precondition, "does not list its architectures");
  }
  library.architectures.resize(static_cast<std::size_t>(count));
  if (library.get_supported_archs(library.architectures.data()) != NVRTC_SUCCESS) {
    return fail(ErrorCode::failed_precondition, "does not list its architectures");
  }
  std::ranges::sort(library.architectures);
  load_builtins_beside(library);
  return library;
}

}  // namespace

std::string NvrtcLibrary::name() const {
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

std::string NvrtcLibrary::description() const {
  return name() + " (" + path + ")";
}

std::string NvrtcLibrary::architecture_list() const {
  std::string list;
  for (const int architecture : architectures) {
    list += (list.empty() ? "sm_" : ", sm_") + std::to_string(architecture);
  }
  return list;
}

Result<NvrtcLibrary> open_nvrtc(const std::string& explicit_path) {
  std::string tried;
  for (const std::string& place : places_to_try(explicit_path)) {
    std::string problem;
    // The library registers clean-up of its own and may have threads: it is never unloaded.
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      Result<NvrtcLibrary> library = library_of(handle, place);
      if (library) return library;
      problem = place + ": " + library.error().message;
    } else {
      const char* words = dlerror();
      problem = words != nullptr ? words : place + ": cannot be opened";
    }
    tried += "; " + problem;
  }
  return fail(ErrorCode::failed_precondition,
              "NVRTC, NVIDIA's run-time compiler, was not found. Tried in this order" + tried);
}

}  // namespace normd
