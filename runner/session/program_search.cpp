#include "runner/session/program_search.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace leakgate {
namespace {

bool IsExecutableFile(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

Expected<std::filesystem::path> CheckPath(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return UsageError(
        fmt::format("{}: no such program; build it first, or correct the path", path.string()));
  }
  if (!IsExecutableFile(path)) {
    return UsageError(
        fmt::format("{}: not an executable file; name the test binary itself", path.string()));
  }
  return path;
}

}  // namespace

Expected<std::filesystem::path> FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return CheckPath(name);

  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::filesystem::path candidate =
        std::filesystem::path(directory.empty() ? "." : directory) / name;
    if (IsExecutableFile(candidate)) return candidate;
  }
  return UsageError(
      fmt::format("{}: not found in PATH; for a program in this directory write ./{}", name, name));
}

}  // namespace leakgate
