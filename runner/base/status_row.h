// One line of text that stays where it is on a terminal while others write there.
//
// kShared: the last row is taken out of what scrolls (DECSTBM, as apt does while dpkg
// writes), so others' output scrolls above it, unharmed: who draws over the cursor's own line
// instead would have to know where in a line the others left the cursor, which nobody can.
// The cursor and its colours are saved and restored, and each change is one write, which the
// kernel does not interleave with others'.
//
// kAlone: nobody else writes. The line is the cursor's own, and nothing need be undone if the
// process is killed.
//
// Shows nothing while the process is not in the terminal's foreground: then the screen is
// somebody else's. One thread at a time.
#pragma once

#include <cstddef>
#include <string>

namespace leakgate {

enum class TerminalUse { kAlone, kShared };

class StatusRow {
 public:
  // `fd`: of a terminal, which outlives it.
  StatusRow(int fd, TerminalUse use) : fd_(fd), use_(use) {}
  ~StatusRow() { Hide(); }
  StatusRow(const StatusRow&) = delete;
  StatusRow& operator=(const StatusRow&) = delete;

  // How wide a text may be now; 0: none can be shown.
  [[nodiscard]] std::size_t Columns() const;

  // Shows `text` instead of what is there. REQUIRES: it is printable and fits Columns.
  void Show(const std::string& text);

  // Leaves the terminal as if nothing had been there.
  void Hide();

 private:
  void Take(int rows);
  std::string GiveBack() const;  // the row that was taken
  void Write(const std::string& text) const;

  const int fd_;
  const TerminalUse use_;
  int rows_ = 0;  // of the terminal, since the row was taken; 0: it is not
  std::string shown_;
};

}  // namespace leakgate
