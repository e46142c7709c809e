#include "kernels/launch.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/text.h"

namespace normd {

namespace {

// Groups of blocks, each of which has rows_per_block rows: for so many rows, and at the most.
std::int64_t groups_for(const Launch& launch, std::int64_t rows) {
  NORMD_CHECK(launch.rows_per_block > 0 && launch.blocks_per_row > 0);
  return rows <= 0 ? 0 : (rows - 1) / launch.rows_per_block + 1;
}
std::int64_t groups_max(const Launch& launch) {
  return std::max<std::int64_t>(1, launch.blocks_max / launch.blocks_per_row);
}

}  // namespace

std::int64_t grid_blocks(const Launch& launch, std::int64_t rows) {
  return std::min(groups_for(launch, rows), groups_max(launch)) * launch.blocks_per_row;
}

Result<void> covers(const Launch& launch, std::int64_t rows) {
  if (launch.strides || groups_for(launch, rows) <= groups_max(launch)) return {};
  return fail(
      ErrorCode::invalid_argument,
      std::to_string(rows) + " rows are more than a grid covers: its blocks do not stride, " +
          std::to_string(launch.rows_per_block) + " rows are each one's, or each group's, and " +
          std::to_string(launch.blocks_max) + " are the most",
      "rows");
}

std::size_t workspace_bytes(const Launch& launch, std::int64_t rows) {
  return static_cast<std::size_t>(launch.workspace_bytes + launch.workspace_bytes_per_row * rows);
}

std::string to_text(const Launch& launch) {
  std::string text = "entries=";
  for (std::size_t i = 0; i < launch.entries.size(); ++i) {
    if (i > 0) text += ',';
    text += launch.entries[i];
  }
  text += " block=" + std::to_string(launch.block);
  text += " cluster=" + std::to_string(launch.cluster);
  text += " shared_bytes=" + std::to_string(launch.shared_bytes);
  text += " cooperative=" + std::to_string(launch.cooperative ? 1 : 0);
  text += " programmatic=" + std::to_string(launch.programmatic ? 1 : 0);
  text += " rows_per_block=" + std::to_string(launch.rows_per_block);
  text += " blocks_per_row=" + std::to_string(launch.blocks_per_row);
  text += " resident=" + std::to_string(launch.resident ? 1 : 0);
  text += " strides=" + std::to_string(launch.strides ? 1 : 0);
  text += " blocks_max=" + std::to_string(launch.blocks_max);
  text += " workspace_bytes=" + std::to_string(launch.workspace_bytes);
  text += " workspace_bytes_per_row=" + std::to_string(launch.workspace_bytes_per_row);
  return text;
}

Result<Launch> parse_launch(std::string_view text) {
  FieldReader reader(text);
  const auto bounded = [&](std::string_view name, std::int64_t low, std::int64_t high) {
    const std::int64_t value = reader.integer(name);
    if (value < low || value > high) reader.reject(name, "a value in range");
    return value;
  };
  Launch launch;
  for (const std::string_view entry : split(reader.value("entries"), ',')) {
    if (entry.empty()) reader.reject("entries", "kernel names");
    launch.entries.emplace_back(entry);
  }
  launch.block = static_cast<int>(bounded("block", 1, 1024));
  launch.cluster = static_cast<int>(bounded("cluster", 1, 16));
  launch.shared_bytes = static_cast<int>(bounded("shared_bytes", 0, 1 << 24));
  launch.cooperative = bounded("cooperative", 0, 1) == 1;
  launch.programmatic = bounded("programmatic", 0, 1) == 1;
  launch.rows_per_block = bounded("rows_per_block", 1, std::int64_t{1} << 40);
  launch.blocks_per_row = static_cast<int>(bounded("blocks_per_row", 1, 1 << 20));
  launch.resident = bounded("resident", 0, 1) == 1;
  launch.strides = bounded("strides", 0, 1) == 1;
  launch.blocks_max = bounded("blocks_max", 1, 2147483647);
  launch.workspace_bytes = bounded("workspace_bytes", 0, std::int64_t{1} << 40);
  launch.workspace_bytes_per_row = bounded("workspace_bytes_per_row", 0, std::int64_t{1} << 30);
  if (auto done = reader.finish(); !done) return fail(std::move(done.error()));
  return launch;
}

}  // namespace normd
