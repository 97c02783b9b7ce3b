// A table of checks. Columns stand under the name of their group, in as many blocks as the terminal's width
// requires.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal/terminal.h"

namespace opgate {

struct TableCell {
  std::string text;
  Colour colour = Colour::faint;
};

struct TableRow {
  std::string label;
  std::map<std::string, TableCell> cells;  ///< by column; a missing cell is shown as "."
};

/// Formats a table at most `width` characters wide, as far as one column fits. `columns` are ids such as
/// "value.layout": the heading is the group, and the name below it.
std::string format_table(const std::vector<std::string>& columns, const std::vector<TableRow>& rows,
                         size_t width);

}  // namespace opgate
