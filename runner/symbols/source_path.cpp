#include "runner/symbols/source_path.h"

#include <filesystem>
#include <string_view>

namespace leakgate {
namespace {

// Where Bazel says that it compiles, for each machine and sandbox to write the same.
// It means the compiler's directory: opened from here it would be another one.
constexpr std::string_view kAnyDirectory = "/proc/self/cwd/";

}  // namespace

std::string SourcePath(const char* directory, const char* file) {
  if (file == nullptr) return {};
  // An absolute `file` replaces the directory.
  const std::filesystem::path base = directory != nullptr ? directory : "";
  std::string path = (base / file).lexically_normal().string();
  if (path.starts_with(kAnyDirectory)) path.erase(0, kAnyDirectory.size());
  return path;
}

}  // namespace leakgate
