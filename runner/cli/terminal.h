// Prints the runner's own text, and shows progress.
//
// A console is a terminal, which obeys escape sequences, or the log of a CI system, which obeys
// lines such as "::error::..." and "##[error]...". Texts contain names that others have chosen: of
// files, tests, functions, components. So all text goes through these functions, which make sure
// that nothing in it is obeyed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "runner/base/expected.h"
#include "runner/base/status_row.h"
#include "runner/report/style.h"
#include "runner/run/run_request.h"

namespace leakgate {

// Says where the progress of a run or a merge is shown.
enum class ProgressMode {
  kAuto,   // a bar or lines, where they disturb nothing
  kBar,    // in the last row of the terminal, also while the program writes above it
  kLines,  // from time to time
  kNone,
};

// Prints text of many lines, which may be coloured (Paint). Whether it could be written is told at
// the end (ExitCodeAfterOutput). REQUIRES:
// names in the text have been through Printable, so that each newline is the text's own.
void Print(std::FILE* stream, std::string_view text);

// Prints "leakgate: MESSAGE" on standard error, always on one line.
void PrintMessage(std::string_view message);

// Prints text without any names that others have chosen: help, manual pages, scripts.
void PrintVerbatim(std::FILE* stream, std::string_view text);

// Standard output for what writes into a stream; as PrintVerbatim.
[[nodiscard]] std::ostream& OutputStream();

// Writes what is buffered for standard output, for a reader who waits. Returns false if it could
// not be written, now or before.
bool FlushOutput();

// Writes what is still buffered for standard output. Returns the exit code of the process, which is
// `exit_code` unless that says success and not all of the output could be written: then it is that
// of an inconclusive end, after a message; or, in silence, what a shell has for a process that
// ended by SIGPIPE, since the reader wants no more.
[[nodiscard]] int ExitCodeAfterOutput(int exit_code);

// Returns what Print prints for a text.
[[nodiscard]] std::string ConsoleText(std::string_view text);

// Returns JSON that Print does not change: all ASCII, invalid UTF-8 replaced, a newline at the end.
[[nodiscard]] std::string ConsoleJson(const nlohmann::ordered_json& json, int indent);

// Returns whether to colour text: on a terminal that is not dumb, unless NO_COLOR forbids it.
[[nodiscard]] Colour ColourOf(std::FILE* stream);
[[nodiscard]] bool IsTerminal(std::FILE* stream);
[[nodiscard]] TextStyle StyleOfStandardError();

// The size of the terminal that has `stream`; 0 rows if there is none, or one that obeys nothing.
struct ScreenSize {
  std::size_t rows = 0;
  std::size_t columns = 0;
};
[[nodiscard]] ScreenSize ScreenOf(std::FILE* stream);
// Clears that terminal, so that what is printed next begins at its top.
void ClearScreen(std::FILE* stream);

// Shows the progress of a run or a merge, from a thread of its own. When it is destroyed,
// nothing of it is left on the terminal.
//
//   standard error is    auto                                   bar            lines
//   a terminal           a bar, once it takes long; but none    a bar          lines
//                        while the program writes to the same
//   a file, a pipe       lines, each 30 seconds                 lines          lines
//
// On a terminal that has the program's standard output GoogleTest shows how far it is; a row
// taken out of what scrolls there would shrink the screen under a program that thinks it has
// it to itself. Where only standard error is shared (`leakgate run -- BINARY > log`), what the
// program writes there scrolls above the bar (status_row.h).
class ProgressDisplay {
 public:
  // `use` tells whether a program writes to the terminal, too.
  ProgressDisplay(ProgressMode mode, TerminalUse use);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // Returns where the run or merge writes its progress, or nullptr if nobody would see it.
  [[nodiscard]] RunProgress* progress() { return thread_.joinable() ? &progress_ : nullptr; }

 private:
  using Clock = std::chrono::steady_clock;

  void Start();
  void Run();
  void Tick();
  void ShowBar(const Progress& progress, std::chrono::seconds elapsed);
  void Pause();
  void Resume();

  RunProgress progress_;
  const Clock::time_point begin_ = Clock::now();
  std::unique_ptr<StatusRow> row_;  // nullptr: lines are written
  bool hides_program_ = false;      // while the program writes
  std::mutex mutex_;                // of the rest
  std::condition_variable wake_;
  bool is_ending_ = false;
  bool is_paused_ = false;
  std::thread thread_;
};

// Calls Run of run/judged_run.h and shows its progress.
[[nodiscard]] Expected<RunResult> RunShowingProgress(RunRequest& request, ProgressMode mode);

}  // namespace leakgate
