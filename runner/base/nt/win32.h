// What all files for Windows share: <windows.h> without the macros that would change our names,
// handles as UniqueFd, the system's errors, and text between UTF-8 and UTF-16.
//
// A UniqueFd holds a handle here. Handles have 32 significant bits, so that programs of 32 and of
// 64 bits can exchange them, and kernel objects' are small positive numbers. No UniqueFd is a
// descriptor of the C runtime.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#undef ERROR
#undef SendMessage

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

// Takes over a handle; the result is empty if it is null or INVALID_HANDLE_VALUE.
[[nodiscard]] inline UniqueFd OwnHandle(HANDLE handle) {
  if (handle == nullptr || handle == INVALID_HANDLE_VALUE) return {};
  return UniqueFd(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)));
}

[[nodiscard]] inline HANDLE HandleOf(int fd) {
  return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(fd));
}
[[nodiscard]] inline HANDLE HandleOf(const UniqueFd& fd) { return HandleOf(fd.get()); }

// GetLastError as a value. Its message has no newline and no full stop at the end.
[[nodiscard]] std::error_code LastWindowsError();
// The message of a system's error, as LastWindowsError has it.
[[nodiscard]] std::string WindowsErrorText(DWORD error = GetLastError());
// Sets errno as the C runtime would have for GetLastError, for callers of a contract that speaks of
// errno.
void SetErrnoFromWindows();

// What is not valid becomes U+FFFD.
[[nodiscard]] std::wstring WideOf(std::string_view utf8);
[[nodiscard]] std::string Utf8Of(std::wstring_view wide);

// The text that `get(to, units)` writes, which returns its length, or how many units it needs if
// these are too few; empty if it returns 0.
template <typename Get>
[[nodiscard]] std::wstring TextThat(Get get) {
  std::wstring text(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = get(text.data(), static_cast<DWORD>(text.size()));
    const bool fits = length < text.size();
    text.resize(length);
    if (fits) return text;
  }
}

// The path that a handle of a file or folder leads to, with \\?\ in front; empty on failure.
[[nodiscard]] std::wstring PathOfHandle(HANDLE file);

// The folders of Windows' kits, which have its performance toolkit; by the registry, where only
// administrators write. Those on other machines are left out, since what is there may be anybody's.
[[nodiscard]] std::vector<std::filesystem::path> KitsFolders();

// Windows' own folder, System32; empty on failure.
[[nodiscard]] std::filesystem::path SystemFolder();

// Wine's version where the system is Wine; else empty.
[[nodiscard]] std::string WineVersion();

// The value of an environment variable; empty if it is not set.
[[nodiscard]] std::wstring EnvironmentVariable(const wchar_t* name);

}  // namespace leakgate
