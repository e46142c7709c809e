#include "service/daemon/transfer_area.h"

#include <algorithm>
#include <cstring>

namespace normd {
namespace {

// As Device aligns its memory, so that every tensor has the widest alignment class.
constexpr std::size_t tensor_align_bytes = 256;

// The first request makes room for this much, so that small requests never grow it again.
constexpr std::size_t first_bytes = std::size_t{1} << 20;

TransferLayout lay_out(const ServeTensors& tensors) {
  std::size_t next = 0;
  const auto place = [&](std::int64_t bytes) {
    const std::size_t begin = next;
    const std::size_t end = begin + static_cast<std::size_t>(bytes);
    next = (end + tensor_align_bytes - 1) / tensor_align_bytes * tensor_align_bytes;
    return begin;
  };
  TransferLayout layout;
  layout.gamma = place(bytes_in(tensors.gamma));
  layout.beta = place(bytes_in(tensors.beta));
  layout.x = place(bytes_in(tensors.x));
  layout.inputs_end = next;
  layout.y = place(static_cast<std::int64_t>(tensors.y.size()));
  layout.mean = place(static_cast<std::int64_t>(tensors.mean.size()));
  layout.rstd = place(static_cast<std::int64_t>(tensors.rstd.size()));
  layout.end = next;
  return layout;
}

}  // namespace

std::int64_t bytes_in(const Pieces& pieces) {
  std::size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  return static_cast<std::int64_t>(bytes);
}

Result<void> TransferArea::grow(std::size_t bytes) {
  if (memory_ && memory_->bytes() >= bytes) return {};
  const std::size_t wanted = std::max({first_bytes, bytes, memory_ ? 2 * memory_->bytes() : 0});
  // The old room goes first: both at once may be more than the device has.
  memory_.reset();
  staging_.reset();
  auto memory = device_.allocate(wanted);
  if (!memory && wanted > bytes) memory = device_.allocate(bytes);
  if (!memory) return fail(std::move(memory.error()));
  auto staging = device_.allocate_staging((*memory)->bytes());
  if (!staging) return fail(std::move(staging.error()));
  memory_ = std::move(*memory);
  staging_ = std::move(*staging);
  return {};
}

Result<void> TransferArea::send(const ServeTensors& tensors) {
  layout_ = lay_out(tensors);
  if (auto room = grow(layout_.end); !room) return room;
  auto* const staging = static_cast<std::byte*>(staging_->address());
  const auto gather = [&](const Pieces& pieces, std::size_t begin) {
    std::byte* to = staging + begin;
    for (const auto& piece : pieces) {
      if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
      to += piece.size();
    }
  };
  gather(tensors.gamma, layout_.gamma);
  gather(tensors.beta, layout_.beta);
  gather(tensors.x, layout_.x);
  return device_.copy_in(memory_->address(), staging, layout_.inputs_end);
}

NormArguments TransferArea::arguments(const ServeJob& job) const {
  auto* const base = static_cast<std::byte*>(memory_->address());
  const Problem& problem = job.problem;
  const auto if_wanted = [&](bool wanted, std::size_t offset) {
    return wanted ? base + offset : nullptr;
  };
  return NormArguments{
      .x = base + layout_.x,
      .gamma = if_wanted(problem.gamma.has_value(), layout_.gamma),
      .beta = if_wanted(problem.beta.has_value(), layout_.beta),
      .y = base + layout_.y,
      .rows = problem.rows,
      .epsilon = job.epsilon,
      .flags = dtype_flags(problem),
      .mean = reinterpret_cast<float*>(if_wanted(wants_mean(problem.stats), layout_.mean)),
      .rstd = reinterpret_cast<float*>(if_wanted(wants_rstd(problem.stats), layout_.rstd)),
      .workspace = nullptr,
      .columns = problem.columns,
      .x_row_stride = job.x_row_stride,
      .y_row_stride = problem.columns};
}

Result<void> TransferArea::receive(const ServeTensors& tensors) {
  auto* const staging = static_cast<std::byte*>(staging_->address());
  auto copied =
      device_.copy_out(staging + layout_.y, static_cast<std::byte*>(memory_->address()) + layout_.y,
                       layout_.end - layout_.y);
  if (!copied) return copied;
  const auto scatter = [&](std::span<std::byte> to, std::size_t begin) {
    if (!to.empty()) std::memcpy(to.data(), staging + begin, to.size());
  };
  scatter(tensors.y, layout_.y);
  scatter(tensors.mean, layout_.mean);
  scatter(tensors.rstd, layout_.rstd);
  return {};
}

}  // namespace normd
