// Paths and their texts. All texts of the runner are UTF-8, and their folders are divided by '/',
// on Windows, too. The conversions of std::filesystem::path itself take texts on Windows to be in
// the user's own character set, so they are not used there. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace leakgate {

// Neither of the next two fails. A text may come from a file that is damaged, and a path of Windows
// need not be valid: what cannot be converted there is '?', for all but ASCII.
[[nodiscard]] inline std::filesystem::path PathOf(std::string_view text) {
  try {
    return std::u8string(text.begin(), text.end());
  } catch (const std::filesystem::filesystem_error&) {
    std::u8string ascii(text.begin(), text.end());
    for (char8_t& c : ascii) c = c < 0x80 ? c : u8'?';
    return ascii;
  }
}

[[nodiscard]] inline std::string PathText(const std::filesystem::path& path) {
  try {
    const std::u8string text = path.generic_u8string();
    return {text.begin(), text.end()};
  } catch (const std::filesystem::filesystem_error&) {
    std::string ascii;
    for (const auto c : path.native()) {
      ascii += static_cast<std::uint32_t>(c) < 0x80 ? static_cast<char>(c) : '?';
    }
    return ascii;
  }
}

// Returns the last part of a path.
[[nodiscard]] inline std::string FileNameIn(std::string_view path) {
  return PathText(PathOf(path).filename());
}

// Returns whether a path begins with a drive ("C:\src") or a server ("\\build\src"), as only paths
// of Windows do. The case of letters does not matter in such a path.
[[nodiscard]] inline bool IsWindowsPath(std::string_view path) {
  const bool has_drive = path.size() > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') &&
                         (path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z';
  return has_drive || path.starts_with("\\\\");
}

// Returns whether the text of a path is that of an absolute one, of this system or of another.
[[nodiscard]] inline bool IsAbsolutePath(std::string_view path) {
  return path.starts_with('/') || IsWindowsPath(path);
}

// Returns a text that a program has made, such as __FILE__, with '/' for '\' if it is a path of
// Windows.
[[nodiscard]] inline std::string WithSlashes(std::string path) {
  if (IsWindowsPath(path)) std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

// Returns a path, or a pattern of paths, in the form in which paths of Windows are compared: with
// '/', and the letters of ASCII in lower case.
[[nodiscard]] inline std::string FoldedPath(std::string_view path) {
  std::string folded(path);
  for (char& c : folded) {
    if (c == '\\') c = '/';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return folded;
}

}  // namespace leakgate
