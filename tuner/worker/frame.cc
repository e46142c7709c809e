#include "tuner/worker/frame.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kernels/text.h"

namespace normd {
namespace {

constexpr std::string_view magic = "NORMDFR1";
constexpr std::size_t preamble_bytes = 24;

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      value += text[i];
    } else {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    }
  }
  return value;
}

std::string header_of(const Frame& frame) {
  std::string header = frame.verb;
  for (const auto& [name, value] : frame.fields) {
    header.append("\n").append(name).append("=").append(escaped(value));
  }
  return header;
}

std::string words_of_error(std::string_view what) {
  return std::string(what) + ": " + std::strerror(errno);
}

Result<void> write_all(int descriptor, const char* bytes, std::size_t count) {
  while (count > 0) {
    // MSG_NOSIGNAL: a worker that died must be an error here, not a signal.
    const ssize_t written = ::send(descriptor, bytes, count, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(ErrorCode::unavailable, words_of_error("writing to the worker"));
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> read_all(int descriptor, char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(descriptor, bytes, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::unavailable, words_of_error("reading a frame"));
    if (got == 0) return fail(ErrorCode::unavailable, "the other end of the frame socket closed");
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

std::uint64_t number_at(const char* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

Result<std::string> Frame::field(std::string_view name) const {
  const auto found = fields.find(std::string(name));
  if (found == fields.end()) {
    return fail(ErrorCode::invalid_argument,
                "frame '" + verb + "' has no field '" + std::string(name) + "'", std::string(name));
  }
  return found->second;
}

Result<std::int64_t> Frame::integer(std::string_view name) const {
  auto text = field(name);
  if (!text) return fail(std::move(text.error()));
  const auto value = parse_integer(*text);
  if (!value) {
    return fail(ErrorCode::invalid_argument,
                "field '" + std::string(name) + "' of frame '" + verb + "' is no integer: " + *text,
                std::string(name));
  }
  return *value;
}

std::string encode(const Frame& frame) {
  const std::string header = header_of(frame);
  std::string bytes(magic);
  for (const std::uint64_t length : {header.size(), frame.body.size()}) {
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  }
  return bytes.append(header).append(frame.body);
}

Result<Frame> decode_header(std::string_view header) {
  Frame frame;
  bool first = true;
  for (const std::string_view line : split(header, '\n')) {
    if (first) {
      frame.verb = std::string(line);
      first = false;
      continue;
    }
    const std::size_t at = line.find('=');
    if (at == std::string_view::npos || at == 0) {
      return fail(ErrorCode::invalid_argument,
                  "a frame's line is not name=value: " + std::string(line));
    }
    frame.fields[std::string(line.substr(0, at))] = unescaped(line.substr(at + 1));
  }
  if (frame.verb.empty()) return fail(ErrorCode::invalid_argument, "a frame without a verb");
  return frame;
}

Result<void> write_frame(int descriptor, const Frame& frame) {
  const std::string bytes = encode(frame);
  return write_all(descriptor, bytes.data(), bytes.size());
}

Result<Frame> read_frame(int descriptor) {
  char preamble[preamble_bytes];
  if (auto read = read_all(descriptor, preamble, sizeof preamble); !read) {
    return fail(std::move(read.error()));
  }
  const std::uint64_t header_bytes = number_at(preamble + 8);
  const std::uint64_t body_bytes = number_at(preamble + 16);
  if (std::string_view(preamble, 8) != magic || header_bytes > frame_bytes_max ||
      body_bytes > frame_bytes_max) {
    return fail(ErrorCode::data_loss, "not a frame, or one over the size limit");
  }
  std::string header(header_bytes, '\0');
  if (auto read = read_all(descriptor, header.data(), header.size()); !read) {
    return fail(std::move(read.error()));
  }
  auto frame = decode_header(header);
  if (!frame) return frame;
  frame->body.resize(body_bytes);
  if (auto read = read_all(descriptor, frame->body.data(), body_bytes); !read) {
    return fail(std::move(read.error()));
  }
  return frame;
}

}  // namespace normd
