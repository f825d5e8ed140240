#include "runner/cli/own_program.h"

namespace leakgate {

// The file may have been replaced meanwhile.
std::filesystem::path OwnProgram() { return "/proc/self/exe"; }

std::vector<std::string> OwnArguments(int count, char** arguments) {
  return {arguments + 1, arguments + count};
}

}  // namespace leakgate
