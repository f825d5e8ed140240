#include "runner/cli/own_program.h"

#include "runner/base/nt/win32.h"
#include "runner/process/nt/command_line.h"
#include "runner/process/process_image.h"

namespace leakgate {

std::filesystem::path OwnProgram() { return WideOf(ImageOf(OwnPid())); }

// Those of main are in the code page of the system, which has not all letters.
std::vector<std::string> OwnArguments(int, char**) {
  std::vector<std::string> arguments = SplitCommandLine(GetCommandLineW());
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return arguments;
}

}  // namespace leakgate
