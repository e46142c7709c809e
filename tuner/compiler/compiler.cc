#include "tuner/compiler/compiler.h"

#include "tuner/compiler/host_compiler.h"
#include "tuner/compiler/nvrtc_compiler.h"

namespace normd {

Result<Binary> compile(const Source& source, const CompilerPlaces& places) {
  if (source.target == "host") return compile_with_host_compiler(source);
  const Result<NvrtcLibrary> library = open_nvrtc(places.nvrtc_library);
  if (!library) return fail(library.error());
  return compile_with_nvrtc(*library, source);
}

Result<std::string> compiler_version(const std::string& target, const CompilerPlaces& places) {
  if (target == "host") return host_compiler_version();
  const Result<NvrtcLibrary> library = open_nvrtc(places.nvrtc_library);
  if (!library) return fail(library.error());
  return library->name();
}

}  // namespace normd
