// One line of text that stays in its place on a terminal while other processes write there.
//
// kShared: the last row is taken out of the part that scrolls (DECSTBM, as apt does while dpkg
// writes), so the output of others scrolls above it. Drawing over the cursor's line would not
// work: nobody can know in which column another process has left the cursor. The cursor and its
// colours are saved and restored, and each change is one write, which the kernel does not mix
// with the writes of others.
//
// kAlone: nobody else writes. The text is on the cursor's line, and nothing must be undone if
// the process is killed.
//
// A row shows nothing while the process is not in the terminal's foreground, because the screen
// then belongs to another process. Only one thread may use a row at a time.
#pragma once

#include <cstddef>
#include <string>

namespace leakgate {

enum class TerminalUse { kAlone, kShared };

class StatusRow {
 public:
  // REQUIRES: `fd` is a terminal, and stays open while the row lives.
  StatusRow(int fd, TerminalUse use) : fd_(fd), use_(use) {}
  ~StatusRow() { Hide(); }
  StatusRow(const StatusRow&) = delete;
  StatusRow& operator=(const StatusRow&) = delete;

  // How many columns a text may have now; 0 if no text can be shown.
  [[nodiscard]] std::size_t Columns() const;

  // Replaces the text of the row. REQUIRES: `text` is printable, and at most Columns() wide.
  void Show(const std::string& text);

  // Removes the row, and leaves the terminal as if there had been none.
  void Hide();

 private:
  void ReserveRow(std::size_t rows);
  std::string SequenceToReleaseRow() const;
  void Write(const std::string& text) const;

  const int fd_;
  const TerminalUse use_;
  std::size_t rows_ = 0;  // the terminal's rows when the row was reserved; 0: it is not reserved
  std::string shown_;
};

}  // namespace leakgate
