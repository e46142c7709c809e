#include "service/cli/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "kernels/check.h"

namespace normd {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string system_words() {
  return std::strerror(errno);
}

tl::unexpected<Error> wrong_data(const NpyHeader& header, std::size_t file_bytes,
                                 const std::string& name) {
  const std::size_t wanted = static_cast<std::size_t>(header.elements) * size_bytes(header.type);
  const std::size_t found = file_bytes - header.data_offset;
  const std::size_t offset = header.data_offset + (found < wanted ? found : wanted);
  return fail(ErrorCode::invalid_argument,
              name + ": byte " + std::to_string(offset) + ": expected " + std::to_string(wanted) +
                  " bytes of elements from byte " + std::to_string(header.data_offset) + ", but " +
                  (found < wanted ? "the file ends here" : "the file goes on"));
}

// Reads at most `bytes_max` bytes; more is an error of the caller's making.
Result<std::string> read_some(std::FILE* file, std::size_t bytes_max, const std::string& path) {
  std::string bytes;
  while (bytes.size() < bytes_max) {
    const std::size_t begin = bytes.size();
    bytes.resize(std::min(bytes_max, begin + (std::size_t{1} << 20)));
    const std::size_t count = std::fread(bytes.data() + begin, 1, bytes.size() - begin, file);
    const bool ended = begin + count < bytes.size();
    bytes.resize(begin + count);
    if (std::ferror(file) != 0) {
      return fail(ErrorCode::invalid_argument, path + ": reading failed: " + system_words());
    }
    if (ended) break;
  }
  return bytes;
}

}  // namespace

std::string_view npy_type_name(NpyType type) {
  switch (type) {
    case NpyType::fp16:
      return "float16";
    case NpyType::fp32:
      return "float32";
    case NpyType::fp64:
      return "float64";
    case NpyType::uint16:
      return "uint16";
  }
  NORMD_CHECK(false);
}

std::size_t size_bytes(NpyType type) {
  return type == NpyType::fp64 ? 8 : type == NpyType::fp32 ? 4 : 2;
}

std::int64_t NpyArray::elements() const {
  return static_cast<std::int64_t>(bytes.size() / size_bytes(type));
}

Result<NpyArray> parse_npy(std::string_view file, const std::string& name) {
  Result<NpyHeader> header = parse_npy_header(file, name);
  if (!header) return fail(header.error());
  const std::size_t wanted = static_cast<std::size_t>(header->elements) * size_bytes(header->type);
  if (file.size() - header->data_offset != wanted) return wrong_data(*header, file.size(), name);
  return NpyArray{.type = header->type,
                  .shape = std::move(header->shape),
                  .bytes = std::string(file.substr(header->data_offset))};
}

Result<NpyArray> read_npy(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::invalid_argument;
    return fail(code, path + ": cannot be opened: " + system_words());
  }
  // The header first: a wrong file of any size costs 64 KiB.
  Result<std::string> bytes = read_some(file.get(), 12 + npy_header_bytes_max, path);
  if (!bytes) return fail(bytes.error());
  const Result<NpyHeader> header = parse_npy_header(*bytes, path);
  if (!header) return fail(header.error());
  // One byte more than belongs there tells a file that goes on from one that ends.
  const std::size_t file_bytes =
      header->data_offset + 1 +
      static_cast<std::size_t>(header->elements) * size_bytes(header->type);
  if (bytes->size() < file_bytes) {
    const Result<std::string> rest = read_some(file.get(), file_bytes - bytes->size(), path);
    if (!rest) return fail(rest.error());
    *bytes += *rest;
  }
  return parse_npy(*bytes, path);
}

std::string npy_text(const NpyArray& array) {
  const char* descr = array.type == NpyType::fp16   ? "<f2"
                      : array.type == NpyType::fp32 ? "<f4"
                      : array.type == NpyType::fp64 ? "<f8"
                                                    : "<u2";
  std::string dict = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    dict += (i > 0 ? " " : "") + std::to_string(array.shape[i]);
    if (i + 1 < array.shape.size() || array.shape.size() == 1) dict += ",";
  }
  dict += "), }";
  constexpr std::size_t prefix_bytes = 10;
  dict.append(63 - (prefix_bytes + dict.size()) % 64, ' ');
  dict += '\n';
  NORMD_CHECK(dict.size() < 65536);
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(dict.size() & 0xff);
  text += static_cast<char>(dict.size() >> 8);
  return text + dict + array.bytes;
}

Result<void> write_npy(const std::string& path, const NpyArray& array) {
  const std::string text = npy_text(array);
  struct stat status = {};
  // A pipe or a device such as /dev/stdout is written as it is; renaming over it would replace it.
  const bool in_place = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string written = in_place ? path : path + ".part" + std::to_string(getpid());
  File file(std::fopen(written.c_str(), "wbe"));
  if (!file) {
    return fail(ErrorCode::invalid_argument, path + ": cannot be written: " + system_words());
  }
  const bool complete = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (complete && closed && (in_place || std::rename(written.c_str(), path.c_str()) == 0)) {
    return {};
  }
  const std::string words = system_words();
  if (!in_place) std::remove(written.c_str());
  return fail(ErrorCode::failed_precondition, path + ": writing failed: " + words);
}

}  // namespace normd
