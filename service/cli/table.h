// Table: rows of text set in columns. Cells are escaped by whoever knows where they come from; the
// table only pads them. Plain value; one thread.
#pragma once

#include <string>
#include <vector>

namespace normd {

enum class Alignment { left, right };
enum class LineStyle { plain, good, bad, dim };

// The text in that style's colour, for a terminal.
std::string styled(const std::string& text, LineStyle style);

class Table {
 public:
  struct Column {
    std::string heading;
    Alignment alignment = Alignment::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column; checked. An empty cell prints as "-".
  void add(std::vector<std::string> cells, LineStyle style = LineStyle::plain);
  bool empty() const { return rows_.empty(); }

  // Headings, then rows, two spaces between columns, no space at the end of a line.
  std::string text(bool color) const;

 private:
  std::vector<Column> columns_;
  struct Row {
    std::vector<std::string> cells;
    LineStyle style = LineStyle::plain;
  };
  std::vector<Row> rows_;
};

}  // namespace normd
