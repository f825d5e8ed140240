#include "runner/base/nt/win32.h"

#include <cerrno>

namespace leakgate {
namespace {

class WindowsErrorCategory : public std::error_category {
 public:
  const char* name() const noexcept override { return "windows"; }
  std::string message(int value) const override {
    return WindowsErrorText(static_cast<DWORD>(value));
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    return std::system_category().default_error_condition(value);
  }
};

}  // namespace

std::error_code LastWindowsError() {
  static const WindowsErrorCategory category;
  return {static_cast<int>(GetLastError()), category};
}

std::string WindowsErrorText(DWORD error) {
  wchar_t text[512];
  const DWORD length =
      FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error, 0,
                     text, static_cast<DWORD>(std::size(text)), nullptr);
  std::string message = Utf8Of({text, length});
  while (!message.empty() && std::string_view("\r\n. ").find(message.back()) != std::string::npos) {
    message.pop_back();
  }
  return message.empty() ? "error " + std::to_string(error) : message;
}

void SetErrnoFromWindows() {
  const std::error_condition condition =
      std::system_category().default_error_condition(static_cast<int>(GetLastError()));
  errno = condition.category() == std::generic_category() ? condition.value() : EIO;
}

std::string WineVersion() {
  const auto version = reinterpret_cast<const char* (*)()>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version")));
  return version == nullptr ? "" : version();
}

std::wstring WideOf(std::string_view utf8) {
  if (utf8.empty()) return {};
  const int bytes = static_cast<int>(utf8.size());
  const int length = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, nullptr, 0);
  std::wstring wide(static_cast<std::size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, wide.data(), length);
  return wide;
}

std::string Utf8Of(std::wstring_view wide) {
  if (wide.empty()) return {};
  const int units = static_cast<int>(wide.size());
  const int length =
      WideCharToMultiByte(CP_UTF8, 0, wide.data(), units, nullptr, 0, nullptr, nullptr);
  std::string utf8(static_cast<std::size_t>(length), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), units, utf8.data(), length, nullptr, nullptr);
  return utf8;
}

std::wstring PathOfHandle(HANDLE file) {
  return TextThat([file](wchar_t* to, DWORD units) {
    return GetFinalPathNameByHandleW(file, to, units, VOLUME_NAME_DOS);
  });
}

std::wstring EnvironmentVariable(const wchar_t* name) {
  return TextThat(
      [name](wchar_t* to, DWORD units) { return GetEnvironmentVariableW(name, to, units); });
}

std::filesystem::path SystemFolder() {
  return TextThat([](wchar_t* to, DWORD units) { return GetSystemDirectoryW(to, units); });
}

// Installers for 32 bits write into a registry of their own.
std::vector<std::filesystem::path> KitsFolders() {
  std::vector<std::filesystem::path> folders;
  for (const DWORD view : {DWORD{RRF_SUBKEY_WOW6464KEY}, DWORD{RRF_SUBKEY_WOW6432KEY}}) {
    wchar_t text[1024] = {};
    DWORD bytes = sizeof(text);
    if (RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Windows Kits\\Installed Roots",
                     L"KitsRoot10", RRF_RT_REG_SZ | view, nullptr, text, &bytes) != ERROR_SUCCESS) {
      continue;
    }
    const std::filesystem::path folder = text;
    const std::wstring root = folder.root_name().wstring();
    const bool is_on_disk = folder.is_absolute() && root.size() == 2 && root[1] == L':';
    if (is_on_disk) folders.push_back(folder);
  }
  return folders;
}

}  // namespace leakgate
