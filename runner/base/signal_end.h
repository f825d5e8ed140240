// What happens where a signal asks the process to end (SIGHUP, SIGINT, SIGQUIT, SIGTERM; an
// alarm): it ends by that signal, as if nothing handled it, but leaves no partial file behind and
// no row on the terminal. It ends whatever its threads wait for, unless the signal is blocked.
//
// Signals that were ignored stay ignored. The handler does only what is async-signal-safe.
#pragma once

#include <signal.h>

#include <cstddef>
#include <string_view>

namespace leakgate {

// Those signals.
[[nodiscard]] sigset_t EndSignals();

// From now on. Call once, first of all.
void HandleEndSignals();

// A file that goes if such a signal ends the process while this lives. Where there are too many
// of them at once, or a name is too long, it stays.
class PartialFile {
 public:
  // `directory` is open for as long as this lives.
  PartialFile(int directory, std::string_view name);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

 private:
  void* slot_;
};

// What is written to the terminal `fd` if such a signal ends the process; empty: nothing.
// One thread.
void RestoreTerminalAtSignal(int fd, std::string_view text);

// While it lives, the first such signal is only noted, and gives whoever is at work ten seconds
// to notice it and come to an end. A second one ends the process. One at a time, main thread.
class EndSignalDeferral {
 public:
  EndSignalDeferral();
  // Ends the process if a signal came and nobody has asked for it.
  ~EndSignalDeferral();
  EndSignalDeferral(const EndSignalDeferral&) = delete;
  EndSignalDeferral& operator=(const EndSignalDeferral&) = delete;

  // Whether one has come: then whoever asks takes it upon itself to end.
  [[nodiscard]] bool WasAskedToEnd();

 private:
  bool is_heard_ = false;
};

}  // namespace leakgate
