#include "runner/report/program_exit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace leakgate {
namespace {

std::string_view SignalName(int signal) {
  using Entry = std::pair<int, std::string_view>;
  constexpr std::array<Entry, 13> kNames = {{{1, "SIGHUP"},
                                             {2, "SIGINT"},
                                             {3, "SIGQUIT"},
                                             {4, "SIGILL"},
                                             {5, "SIGTRAP"},
                                             {6, "SIGABRT"},
                                             {7, "SIGBUS"},
                                             {8, "SIGFPE"},
                                             {9, "SIGKILL"},
                                             {11, "SIGSEGV"},
                                             {13, "SIGPIPE"},
                                             {14, "SIGALRM"},
                                             {15, "SIGTERM"}}};
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Entry& entry) { return entry.first == signal; });
  return found == kNames.end() ? "" : found->second;
}

}  // namespace

std::string ProgramExitText(const ProgramExit& program) {
  if (!program.signal) return fmt::format("exited with {}", program.exit_code.value_or(0));
  const std::string_view name = SignalName(*program.signal);
  const std::string number = fmt::format("was killed by signal {}", *program.signal);
  return name.empty() ? number : fmt::format("{} ({})", number, name);
}

}  // namespace leakgate
