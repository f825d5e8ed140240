// Starts programs: CreateProcess with what Linux's exec takes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/nt/win32.h"

namespace leakgate {

struct ProcessToStart {
  std::filesystem::path program;
  std::string name;  // the first word of the command line
  std::vector<std::string> arguments;
  std::optional<std::vector<std::string>>
      environment{};                  // NAME=VALUE; if not set, this process's own
  std::filesystem::path directory{};  // empty: this process's
  DWORD flags = 0;                    // of CreateProcess
  // If set, the program has no input, and writes both its outputs there. It must be inheritable.
  HANDLE output = nullptr;
};

struct StartedProcess {
  int pid = 0;
  UniqueFd process;
  UniqueFd thread;
};

// Returns nothing on failure; GetLastError tells why.
[[nodiscard]] std::optional<StartedProcess> StartProcess(const ProcessToStart& what);

// Opens what swallows all that is written into it; inheritable. C runtimes take it for a terminal:
// they ask about its mode at each character.
[[nodiscard]] UniqueFd OpenNull();
// The same for programs that write much: a pipe, which a thread of this process empties. If there
// can be none, as OpenNull.
[[nodiscard]] UniqueFd OpenSink();

// Writes the arguments so that CommandLineToArgvW and the C runtimes read them as they are. Pure.
[[nodiscard]] std::wstring CommandLineOf(const std::string& name,
                                         const std::vector<std::string>& arguments);

}  // namespace leakgate
