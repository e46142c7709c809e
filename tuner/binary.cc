#include "tuner/binary.h"

namespace normd {

std::string_view binary_format_name(BinaryFormat format) {
  switch (format) {
    case BinaryFormat::cubin:
      return "cubin";
    case BinaryFormat::ptx:
      return "ptx";
    case BinaryFormat::host_object:
      return "host_object";
  }
  return "unknown";
}

}  // namespace normd
