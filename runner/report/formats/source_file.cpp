#include "runner/report/formats/source_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// What files with code end in, of all languages whose compilers write DWARF.
constexpr std::array<std::string_view, 47> kSourceEndings = {
    ".c",   ".C",   ".cc",  ".cp",  ".cpp",   ".CPP", ".cxx",  ".c++", ".h",   ".H",
    ".hh",  ".hp",  ".hpp", ".HPP", ".hxx",   ".h++", ".inl",  ".ipp", ".ixx", ".tpp",
    ".txx", ".tcc", ".inc", ".def", ".cppm",  ".ccm", ".cxxm", ".mpp", ".cu",  ".cuh",
    ".m",   ".mm",  ".s",   ".S",   ".asm",   ".y",   ".yy",   ".l",   ".ll",  ".rs",
    ".go",  ".d",   ".f",   ".f90", ".swift", ".zig", ".pyx"};

bool IsCalledLikeASource(const fs::path& name) {
  return std::find(kSourceEndings.begin(), kSourceEndings.end(), name.extension()) !=
         kSourceEndings.end();
}

// `root` is as the kernel names it; empty: everything is below it.
bool IsBelow(const std::string& name, const std::string& root) {
  return root.empty() || root == "/" || name.starts_with(root + "/");
}

std::optional<std::string> ReadBelow(const std::string& root, const std::string& file) {
  constexpr std::uint64_t kMostFileBytes = 4UL * 1024 * 1024;
  const auto opened = OpenRegularFileIf(fs::path(root) / file, [&](const std::string& name) {
    return IsBelow(name, root) && IsCalledLikeASource(name);
  });
  if (!opened) return std::nullopt;
  auto text = ReadToEnd(*opened, kMostFileBytes);
  if (!text) return std::nullopt;
  return *std::move(text);
}

}  // namespace

std::optional<std::string> ReadSourceFile(const std::string& file) { return ReadBelow("", file); }

Expected<ReadSource> SourcesBelow(const fs::path& root) {
  std::error_code error;
  const fs::path canonical = fs::canonical(root, error);
  if (error || !fs::is_directory(canonical, error)) {
    return UsageError(
        fmt::format("--source-root {}: no such directory; correct the path", root.string()));
  }
  return ReadSource(
      [root = canonical.string()](const std::string& file) { return ReadBelow(root, file); });
}

}  // namespace leakgate
