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

// Whether the system takes names of files that differ only in the case of letters for the same.
inline constexpr bool kFoldsNames = std::filesystem::path::preferred_separator == '\\';

// Neither of the next two fails. A text may come from a file that is damaged, and a path of Windows
// need not be valid: what cannot be converted there is '?', for all but ASCII.
[[nodiscard]] inline std::filesystem::path PathOf(std::string_view text) {
  try {
    std::filesystem::path path = std::u8string(text.begin(), text.end());
    // With this prefix, Windows takes a path of any length, but only with its own slashes.
    return text.starts_with("//?/") ? path.make_preferred() : path;
  } catch (const std::filesystem::filesystem_error&) {
    std::u8string ascii(text.begin(), text.end());
    for (char8_t& c : ascii) c = c < 0x80 ? c : u8'?';
    return ascii;
  }
}

[[nodiscard]] inline std::string PathText(const std::filesystem::path& path) {
  try {
    const std::u8string text = path.generic_u8string();
    // libstdc++ leaves one of the two slashes with which a server's path begins.
    const auto& native = path.native();
    const bool is_of_server = kFoldsNames && native.size() > 1 &&
                              (native[0] == '\\' || native[0] == '/') && native[1] == native[0] &&
                              !text.starts_with(u8"//");
    return (is_of_server ? "/" : "") + std::string(text.begin(), text.end());
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
// '/', and Latin, Greek and Cyrillic letters in lower case. It has as many bytes.
//
// NTFS has one table of letters for all languages, and takes each letter for itself: 'ß' is not
// "ss", and neither of the Turkish letters 'ı' and 'İ' is 'i'.
[[nodiscard]] std::string FoldedPath(std::string_view path);

// The same for a name that the system compares: as it is where the case of letters matters.
[[nodiscard]] inline std::string ComparedName(std::string_view name) {
  return kFoldsNames ? FoldedPath(name) : std::string(name);
}

}  // namespace leakgate
