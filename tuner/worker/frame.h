// Frame: one message between the tuner and a worker: a verb, canonical texts by name, raw bytes.
// On the wire: 8-byte magic and version, 8-byte header length, 8-byte body length, header text
// (`verb`, then `name=value` lines with newlines escaped), body. Bounded; a frame that does not fit
// is refused. Plain value; the descriptor functions are for one thread at a time.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/error.h"

namespace normd {

struct Frame {
  std::string verb;
  std::map<std::string, std::string> fields;
  std::string body;

  // The value of a field, or an error that names it.
  Result<std::string> field(std::string_view name) const;
  Result<std::int64_t> integer(std::string_view name) const;
};

inline constexpr std::size_t frame_bytes_max = std::size_t{256} << 20;

std::string encode(const Frame& frame);
Result<Frame> decode_header(std::string_view header);  // without the body

// Blocking, on a stream socket. unavailable at end of file.
Result<void> write_frame(int descriptor, const Frame& frame);
Result<Frame> read_frame(int descriptor);

}  // namespace normd
