// Ends the process cleanly when an end signal arrives: SIGHUP, SIGINT, SIGQUIT, SIGTERM, or
// SIGALRM from an alarm.
//
// The handler removes partial files, restores the terminal, and then lets the signal end the
// process as if it were not handled. This works whatever the threads wait for, unless the signal
// is blocked. Signals that were ignored at the start stay ignored. The handler does only what is
// async-signal-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>

#include "runner/base/expected.h"

namespace leakgate {

// Installs the handler. Must be called once, at the start of the program.
void HandleEndSignals();

// While an object of this class lives, an end signal also removes the file that it names. At most
// eight files are registered at once; another one, or one with too long a name, stays.
class PartialFile {
 public:
  // REQUIRES: the descriptor `directory` stays open while this object lives.
  PartialFile(int directory, std::string_view name);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

 private:
  void* slot_;
};

// Removes these files now, and lets the terminal be as RestoreTerminalAtSignal says: the process is
// about to end in the middle of its work. Async-signal-safe.
void RemovePartialFiles();

// Ends the process now, whatever its threads wait for: removes these files, and writes `line` to
// standard error, unless its reader has stopped reading.
[[noreturn]] void EndProcessSaying(std::string_view line, ExitCode exit_code);

// Starts a thread that takes none of the process's signals. Throws std::system_error if it cannot
// be started.
[[nodiscard]] std::thread StartThreadWithoutSignals(std::function<void()> run);

// Makes an end signal also write `text` to the terminal `fd`, or nothing if `text` is empty or
// longer than 128 bytes. Only one thread may call this.
void RestoreTerminalAtSignal(int fd, std::string_view text);

// While an object of this class lives, the first end signal is only noted: the work in progress
// has ten seconds to ask WasAskedToEnd and to stop. A second signal ends the process. Only one
// object may live at a time, and only the main thread may use it.
class EndSignalDeferral {
 public:
  EndSignalDeferral();
  // Ends the process if a signal has arrived and WasAskedToEnd has not reported it.
  ~EndSignalDeferral();
  EndSignalDeferral(const EndSignalDeferral&) = delete;
  EndSignalDeferral& operator=(const EndSignalDeferral&) = delete;

  // Returns whether a signal has arrived. If it has, the caller must come to an end.
  [[nodiscard]] bool WasAskedToEnd();

 private:
  bool is_reported_ = false;
};

}  // namespace leakgate
