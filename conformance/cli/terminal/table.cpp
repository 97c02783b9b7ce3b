#include "cli/terminal/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check_group.h"

namespace opgate {
namespace {

constexpr std::string_view kGap = "  ";

struct Column {
  std::string id;
  std::string group;  // empty if it is the group of the column before
  std::string name;
  size_t width;
};

TableCell cell_of(const TableRow& row, const std::string& column) {
  const auto cell = row.cells.find(column);
  return cell == row.cells.end() ? TableCell{"."} : cell->second;
}

Column make_column(const std::string& id, const std::string& group_before,
                   const std::vector<TableRow>& rows) {
  const std::string_view group = group_of_check(id);
  Column column{id, group == group_before ? "" : std::string(group),
                group == id ? "" : id.substr(group.size() + 1), 0};
  column.width = std::max(column.group.size(), column.name.size());
  for (const TableRow& row : rows) column.width = std::max(column.width, cell_of(row, id).text.size());
  return column;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string heading(const std::vector<Column>& block, std::string Column::*text, size_t label_width) {
  std::string line(label_width, ' ');
  for (const Column& column : block) line += fmt::format("{}{:{}}", kGap, column.*text, column.width);
  return coloured(Colour::bold, without_trailing_spaces(std::move(line))) + "\n";
}

std::string format_block(const std::vector<Column>& block, const std::vector<TableRow>& rows,
                         size_t label_width) {
  std::string text = heading(block, &Column::group, label_width);
  const bool named = std::ranges::any_of(block, [](const Column& column) { return !column.name.empty(); });
  if (named) text += heading(block, &Column::name, label_width);
  for (const TableRow& row : rows) {
    text += fmt::format("{:{}}", row.label, label_width);
    for (const Column& column : block) {
      const TableCell cell = cell_of(row, column.id);
      const size_t padding = &column == &block.back() ? 0 : column.width - cell.text.size();
      text += fmt::format("{}{}{:{}}", kGap, coloured(cell.colour, cell.text), "", padding);
    }
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string format_table(const std::vector<std::string>& columns, const std::vector<TableRow>& rows,
                         size_t width) {
  size_t label_width = 0;
  for (const TableRow& row : rows) label_width = std::max(label_width, row.label.size());
  std::string text;
  std::vector<Column> block;
  size_t used = label_width;
  std::string group;
  for (const std::string& id : columns) {
    Column column = make_column(id, group, rows);
    if (!block.empty() && used + kGap.size() + column.width > width) {
      text += format_block(block, rows, label_width);
      block.clear();
      used = label_width;
      column = make_column(id, "", rows);
    }
    used += kGap.size() + column.width;
    group = group_of_check(id);
    block.push_back(std::move(column));
  }
  if (!block.empty()) text += format_block(block, rows, label_width);
  return text;
}

}  // namespace opgate
