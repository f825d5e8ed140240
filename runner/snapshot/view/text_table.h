// A table as text: numbers in columns, aligned to the right, followed by a name.
//
//   Grown: 1 of 2
//        GROWTH          BYTES    BLOCKS
//     +1.0 MiB       +1048576     +1000  net::Pool::Grow(unsigned long)  src/net/pool.cc:88
//                                        in HttpTest.KeepAlive
//       +4 KiB          +4096        +1  1 more
//
// A column is as wide as the widest text in it, and at least as wide as it is asked to be, so that
// the tables of one kind have the same columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runner/report/style.h"

namespace leakgate {

class TextTable {
 public:
  struct Column {
    std::string_view heading{};
    std::size_t least_columns = 11;
  };
  using Cells = std::vector<std::string>;

  TextTable(std::vector<Column> columns, const TextStyle& style,
            std::string_view heading_of_names = {})
      : columns_(std::move(columns)), style_(style), heading_of_names_(heading_of_names) {}

  // Adds a row. `name` is printed as it is.
  void Add(Cells cells, std::string name);
  // Adds a row of a group, or of a call site, which is painted if it is the user's own.
  void Add(Cells cells, std::string_view name, std::string_view place, bool is_own);
  // Adds lines below the last row. They begin four columns in front of its name.
  void AddBelow(std::string_view lines);

  // Adds a row for each of the first `top` entries by `add(*this, entry)`, and one for the sum of
  // the others, whose cells `rest` makes. Returns the text of the table.
  template <typename Entry, typename AddRow, typename Rest>
  std::string TextOfFirst(std::string title, const std::vector<Entry>& entries, std::size_t top,
                          const AddRow& add, const Rest& rest) {
    const std::span<const Entry> all(entries);
    const std::size_t shown = std::min(top, all.size());
    for (const Entry& entry : all.first(shown)) add(*this, entry);
    if (shown < all.size()) AddRest(rest(all.subspan(shown)), title, shown, all.size());
    return Text(title);
  }
  // A table may be without a title.
  [[nodiscard]] std::string Text(std::string_view title) const;

 private:
  struct Row {
    Cells cells{};
    std::string name{};
    std::string below{};
  };

  void AddRest(Cells cells, std::string& title, std::size_t shown, std::size_t count);

  std::vector<Column> columns_;
  const TextStyle& style_;
  std::string_view heading_of_names_;
  std::vector<Row> rows_;
};

}  // namespace leakgate
