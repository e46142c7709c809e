#include "service/cli/table.h"

#include <algorithm>
#include <utility>

#include "kernels/check.h"
#include "service/cli/escape.h"

namespace normd {
namespace {

std::string line(const std::vector<std::string>& cells, const std::vector<Table::Column>& columns,
                 const std::vector<std::size_t>& widths) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    if (i > 0) out += "  ";
    const bool right = columns[i].alignment == Alignment::right;
    out += right ? padding + cells[i] : cells[i] + padding;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace

std::string styled(const std::string& text, LineStyle style) {
  switch (style) {
    case LineStyle::good:
      return "\x1b[32m" + text + "\x1b[0m";
    case LineStyle::bad:
      return "\x1b[31m" + text + "\x1b[0m";
    case LineStyle::dim:
      return "\x1b[2m" + text + "\x1b[0m";
    case LineStyle::plain:
      break;
  }
  return text;
}

void Table::add(std::vector<std::string> cells, LineStyle style) {
  NORMD_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    if (cell.empty()) cell = "-";
  }
  rows_.push_back({.cells = std::move(cells), .style = style});
}

std::string Table::text(bool color) const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(display_width(column.heading));
  }
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row.cells[i]));
    }
  }
  std::string out = line(headings, columns_, widths) + "\n";
  for (const Row& row : rows_) {
    const std::string text = line(row.cells, columns_, widths);
    out += (color ? styled(text, row.style) : text) + "\n";
  }
  return out;
}

}  // namespace normd
