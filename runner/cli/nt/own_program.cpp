#include "runner/cli/own_program.h"

#include "runner/base/nt/win32.h"
// Needs what <windows.h> declares.
#include <shellapi.h>

#include "runner/base/descriptors.h"
#include "runner/process/process_image.h"

namespace leakgate {

std::filesystem::path OwnProgram() { return WideOf(ImageOf(OwnPid())); }

// Those of main are in the code page of the system, which has not all letters.
std::vector<std::string> OwnArguments(int, char**) {
  int count = 0;
  wchar_t** const all = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; all != nullptr && i < count; ++i) arguments.push_back(Utf8Of(all[i]));
  LocalFree(all);
  return arguments;
}

}  // namespace leakgate
