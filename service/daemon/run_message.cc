#include "service/daemon/run_message.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <string>

#include "kernels/check.h"
#include "kernels/limits.h"
#include "service/daemon/wire_bytes.h"

namespace normd {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr int gamma_field = v1::RunRequest::kGammaFieldNumber;
constexpr int beta_field = v1::RunRequest::kBetaFieldNumber;
constexpr int x_field = v1::RunRequest::kXFieldNumber;

// Where a tensor lies in the message: from `begin`, `bytes` long.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};

struct Scanned {
  std::string header;  // every field but the tensors, in order
  Stretch x;
  Stretch gamma;
  Stretch beta;
};

Stretch* stretch_of(Scanned& scanned, std::uint32_t tag) {
  if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
    return nullptr;
  }
  switch (WireFormatLite::GetTagFieldNumber(tag)) {
    case x_field:
      return &scanned.x;
    case gamma_field:
      return &scanned.gamma;
    case beta_field:
      return &scanned.beta;
    default:
      return nullptr;
  }
}

// Pieces one after another, as a parser reads them.
class PieceStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit PieceStream(const Pieces& pieces) : pieces_(pieces) {}

  bool Next(const void** data, int* bytes) override {
    if (next_ == pieces_.size()) return false;
    const auto rest = pieces_[next_++].subspan(offset_);
    *data = rest.data();
    *bytes = static_cast<int>(rest.size());
    position_ += *bytes;
    offset_ = 0;
    return true;
  }
  void BackUp(int bytes) override {
    offset_ = pieces_[--next_].size() - static_cast<std::size_t>(bytes);
    position_ -= bytes;
  }
  bool Skip(int bytes) override {
    const void* data = nullptr;
    for (int got = 0; Next(&data, &got); bytes -= got) {
      if (got >= bytes) {
        BackUp(got - bytes);
        return true;
      }
    }
    return false;
  }
  std::int64_t ByteCount() const override { return position_; }

 private:
  const Pieces& pieces_;
  std::size_t next_ = 0;    // of the pieces, the next one to give
  std::size_t offset_ = 0;  // of that piece's bytes, the first not given yet
  std::int64_t position_ = 0;
};

// Where the bytes lie. Peeking costs no reference to each of the many small slices of a large
// request, whose counts lie in cold memory.
Result<Pieces> all_pieces(grpc::ByteBuffer& bytes) {
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok()) return malformed();
  Pieces pieces;
  const void* data = nullptr;
  int size = 0;
  while (reader.Next(&data, &size)) {
    pieces.emplace_back(static_cast<const std::byte*>(data), static_cast<std::size_t>(size));
  }
  if (!reader.status().ok()) return malformed();
  return pieces;
}

// Walks the top-level fields once: notes where tensors are and copies the rest.
bool scan(google::protobuf::io::ZeroCopyInputStream& input, Scanned& scanned) {
  google::protobuf::io::CodedInputStream stream(&input);
  stream.SetRecursionLimit(message_depth_max);
  google::protobuf::io::StringOutputStream header_stream(&scanned.header);
  google::protobuf::io::CodedOutputStream header(&header_stream);
  while (const std::uint32_t tag = stream.ReadTag()) {
    Stretch* const stretch = stretch_of(scanned, tag);
    if (stretch == nullptr) {
      if (!WireFormatLite::SkipField(&stream, tag, &header)) return false;
      continue;
    }
    int bytes = 0;
    if (!stream.ReadVarintSizeAsInt(&bytes)) return false;
    *stretch = {stream.CurrentPosition(), bytes};  // of a field given twice, the last counts
    if (!stream.Skip(bytes)) return false;
  }
  return stream.ConsumedEntireMessage();
}

// The part of all pieces that a stretch covers.
Pieces pieces_of(const Pieces& all, const Stretch& stretch) {
  Pieces pieces;
  pieces.reserve(stretch.bytes == 0 ? 0 : all.size());
  std::int64_t position = 0;
  for (const auto& piece : all) {
    const auto size = static_cast<std::int64_t>(piece.size());
    const std::int64_t begin = std::max(stretch.begin, position);
    const std::int64_t end = std::min(stretch.begin + stretch.bytes, position + size);
    if (begin < end) {
      pieces.push_back(piece.subspan(static_cast<std::size_t>(begin - position),
                                     static_cast<std::size_t>(end - begin)));
    }
    position += size;
  }
  return pieces;
}

Result<void> check_length(const char* field, std::int64_t got, std::int64_t wanted) {
  if (got == wanted) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(field) + " must have " + std::to_string(wanted) +
                  " bytes for this problem, and has " + std::to_string(got),
              field);
}

// limits::message_bytes_max bounds the tensors of one message in each direction.
Result<void> check_message_size(const char* direction, std::int64_t bytes) {
  if (bytes <= limits::message_bytes_max) return {};
  return fail(ErrorCode::resource_exhausted,
              std::string("the tensors of this ") + direction + " have " + std::to_string(bytes) +
                  " bytes, more than the limit message_bytes_max = " +
                  std::to_string(limits::message_bytes_max) + "; ask for fewer rows at a time",
              "message_bytes_max");
}

std::int64_t column_bytes(const Problem& problem, const std::optional<DType>& dtype) {
  return dtype ? problem.columns * static_cast<std::int64_t>(size_bytes(*dtype)) : 0;
}

std::int64_t y_bytes(const Problem& problem) {
  return problem.rows * problem.columns * static_cast<std::int64_t>(size_bytes(problem.y));
}

std::int64_t stats_bytes(const Problem& problem, bool wanted) {
  return wanted ? problem.rows * static_cast<std::int64_t>(sizeof(float)) : 0;
}

}  // namespace

Result<RunMessage> read_run_message(grpc::ByteBuffer&& request) {
  RunMessage message;
  message.bytes = std::make_unique<grpc::ByteBuffer>();
  message.bytes->Swap(&request);
  const auto all = all_pieces(*message.bytes);
  if (!all) return fail(all.error());
  PieceStream stream(*all);
  Scanned scanned;
  if (!scan(stream, scanned)) return malformed();
  if (!message.header.ParseFromString(scanned.header)) return malformed();
  message.x = pieces_of(*all, scanned.x);
  message.gamma = pieces_of(*all, scanned.gamma);
  message.beta = pieces_of(*all, scanned.beta);
  return message;
}

Result<void> check_tensors(const RunMessage& message, const WireProblem& wire) {
  const Problem& problem = wire.problem;
  const std::int64_t x_elements =
      problem.rows == 0 ? 0 : (problem.rows - 1) * wire.x_row_stride + problem.columns;
  const std::int64_t x_bytes = x_elements * static_cast<std::int64_t>(size_bytes(problem.x));
  const std::int64_t gamma_bytes = column_bytes(problem, problem.gamma);
  const std::int64_t beta_bytes = column_bytes(problem, problem.beta);
  if (auto fits = check_message_size("request", x_bytes + gamma_bytes + beta_bytes); !fits) {
    return fits;
  }
  if (auto fits = check_message_size("answer", answer_bytes(problem)); !fits) return fits;
  if (auto right = check_length("x", bytes_in(message.x), x_bytes); !right) return right;
  if (auto right = check_length("gamma", bytes_in(message.gamma), gamma_bytes); !right)
    return right;
  return check_length("beta", bytes_in(message.beta), beta_bytes);
}

std::int64_t answer_bytes(const Problem& problem) {
  return y_bytes(problem) + stats_bytes(problem, wants_mean(problem.stats)) +
         stats_bytes(problem, wants_rstd(problem.stats));
}

RunAnswerBytes::RunAnswerBytes(const Problem& problem)
    : y_(static_cast<std::size_t>(y_bytes(problem))),
      mean_(static_cast<std::size_t>(stats_bytes(problem, wants_mean(problem.stats)))),
      rstd_(static_cast<std::size_t>(stats_bytes(problem, wants_rstd(problem.stats)))) {}

// A slice that nobody else has seen yet may be written.
std::span<std::byte> RunAnswerBytes::room(grpc::Slice& slice) {
  return std::as_writable_bytes(std::span(const_cast<std::uint8_t*>(slice.begin()), slice.size()));
}

grpc::ByteBuffer RunAnswerBytes::finish(const v1::RunResponse& header) const {
  std::vector<grpc::Slice> slices;
  slices.emplace_back(header.SerializeAsString());
  const auto append = [&](int field, const grpc::Slice& tensor) {
    if (tensor.size() == 0) return;
    std::string prefix;
    {
      google::protobuf::io::StringOutputStream stream(&prefix);
      google::protobuf::io::CodedOutputStream coded(&stream);
      coded.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
      coded.WriteVarint32(static_cast<std::uint32_t>(tensor.size()));
    }
    slices.emplace_back(prefix);
    slices.push_back(tensor);
  };
  append(v1::RunResponse::kMeanFieldNumber, mean_);
  append(v1::RunResponse::kRstdFieldNumber, rstd_);
  append(v1::RunResponse::kYFieldNumber, y_);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace normd
