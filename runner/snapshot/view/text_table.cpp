#include "runner/snapshot/view/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runner/report/finding_text.h"

namespace leakgate {

void TextTable::Add(Cells cells, std::string name) {
  rows_.push_back({.cells = std::move(cells), .name = std::move(name)});
}

void TextTable::Add(Cells cells, std::string_view name, std::string_view place, bool is_own) {
  std::string text =
      Paint(Printable(name), Emphasis::kOwnFrame, is_own ? style_.colour : Colour::kOff);
  if (!place.empty()) {
    text += "  " + Printable(RelativePath(std::string(place), style_.base_directory));
  }
  Add(std::move(cells), std::move(text));
}

void TextTable::AddBelow(std::string_view lines) { rows_.back().below += lines; }

void TextTable::AddRest(Cells cells, std::string& title, std::size_t shown, std::size_t count) {
  Add(std::move(cells),
      Paint(fmt::format("{} more", count - shown), Emphasis::kInTheDistance, style_.colour));
  if (!title.empty()) title += fmt::format(": {} of {}", shown, count);
}

std::string TextTable::Text(std::string_view title) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(std::max(columns_[i].least_columns, columns_[i].heading.size()));
    for (const Row& row : rows_) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  const auto line = [&](const auto& cell) {
    std::string text = " ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += fmt::format(" {:>{}}", cell(i), widths[i]);
    }
    return text;
  };
  std::string heading = line([&](std::size_t i) { return columns_[i].heading; });
  const std::string indent(heading.size() - 2, ' ');
  if (!heading_of_names_.empty()) heading += fmt::format("  {}", heading_of_names_);
  std::string text = "\n";
  if (!title.empty()) text += Paint(title, Emphasis::kHeading, style_.colour) + "\n";
  text += Paint(heading, Emphasis::kInTheDistance, style_.colour) + "\n";
  for (const Row& row : rows_) {
    text += line([&](std::size_t i) { return row.cells[i]; }) + "  " + row.name + "\n";
    for (std::string_view below = row.below; !below.empty();) {
      const std::size_t end = below.find('\n') + 1;
      text += indent;
      text += below.substr(0, end);
      below.remove_prefix(end);
    }
  }
  return text;
}

}  // namespace leakgate
