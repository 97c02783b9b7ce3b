// A table of checks: columns under their group's name, in as many blocks as the terminal needs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace opgate {

struct TableCell {
  std::string text;
  Colour colour = Colour::faint;
};

struct TableRow {
  std::string label;
  std::map<std::string, TableCell> cells;  ///< by column; "." where there is none
};

/// Columns are ids such as "value.layout": the group above, the name below it.
std::string format_table(const std::vector<std::string>& columns, const std::vector<TableRow>& rows,
                         size_t width);

}  // namespace opgate
