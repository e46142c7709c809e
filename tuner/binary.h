// Binary: what a compiler made of a Source, with its resource use, log and digest. Loading turns it
// into a Kernel (device/device.h). Plain value; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace normd {

enum class BinaryFormat : std::uint8_t { cubin = 1, ptx = 2, host_object = 3 };

struct Binary {
  BinaryFormat format = BinaryFormat::cubin;
  std::string bytes;
  std::string digest;         // SHA-256 of bytes; checked before every load
  std::string source_digest;  // of the Source it was made from
  std::string entry;
  std::string target;    // "sm_90", "compute_120" for PTX, "host"
  std::string compiler;  // "NVRTC 13.0", "g++ 12.2.0", "g++ 12.2.0 address,undefined"
  // As the compiler reports them; -1 where it does not say.
  int registers = -1;
  int spill_bytes = -1;
  std::string log;
};

std::string_view binary_format_name(BinaryFormat format);  // cubin, ptx, host_object

}  // namespace normd
