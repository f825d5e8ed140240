#include "runner/heap_tracing/nt/registry_flags.h"

#include <fmt/format.h>

#include <utility>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

constexpr wchar_t kOptions[] =
    L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options";
constexpr wchar_t kFlags[] = L"TracingFlags";
constexpr DWORD kMostBytes = 1024;
constexpr std::int64_t kTicksPerSecond = 10'000'000;
constexpr std::int64_t kSecondsTo1970 = 11'644'473'600;  // since 1601

class RegistryKey {
 public:
  RegistryKey() = default;
  ~RegistryKey() {
    if (key_ != nullptr) RegCloseKey(key_);
  }
  RegistryKey(RegistryKey&& other) noexcept : key_(std::exchange(other.key_, nullptr)) {}
  RegistryKey& operator=(RegistryKey&&) = delete;
  RegistryKey(const RegistryKey&) = delete;
  RegistryKey& operator=(const RegistryKey&) = delete;

  HKEY get() const { return key_; }
  HKEY* to() { return &key_; }

 private:
  HKEY key_ = nullptr;
};

// From the image's key to the innermost.
std::vector<std::wstring> PathsOf(const FlaggedImage& image) {
  std::vector<std::wstring> paths = {kOptions + (L'\\' + WideOf(image.image))};
  if (!image.application.empty()) {
    paths.push_back(paths.back() + L'\\' + WideOf(image.application));
  }
  return paths;
}

LSTATUS OpenPath(const std::wstring& path, REGSAM rights, RegistryKey& key) {
  return RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.c_str(), 0, rights | KEY_WOW64_64KEY, key.to());
}

Unexpected CannotChange(const FlaggedImage& image, LSTATUS error) {
  const auto code = static_cast<DWORD>(error);
  if (error == ERROR_ACCESS_DENIED) {
    return UsageError(fmt::format(
        "--image {}: only an administrator may change its TracingFlags; run this as administrator",
        TextOf(image)));
  }
  return InconclusiveError(
      fmt::format("--image {}: its TracingFlags in the registry cannot be changed: {}; leakgate "
                  "session list tells what is set",
                  TextOf(image), WindowsErrorText(code)));
}

Unexpected CannotRead(const std::string& what, const std::string& cause) {
  return InconclusiveError(
      fmt::format("{}: its TracingFlags in the registry cannot be read: {}; leakgate leaves them "
                  "as they are",
                  what, cause));
}

// Returns ERROR_FILE_NOT_FOUND if there is no value, and ERROR_MORE_DATA if it is too long.
LSTATUS ReadValue(const RegistryKey& key, FlagValue& value) {
  DWORD type = 0;
  DWORD bytes = kMostBytes;
  value.bytes.resize(bytes);
  const LSTATUS status = RegQueryValueExW(key.get(), kFlags, nullptr, &type,
                                          reinterpret_cast<BYTE*>(value.bytes.data()), &bytes);
  value.type = type;
  if (status == ERROR_SUCCESS) value.bytes.resize(bytes);
  return status;
}

LSTATUS SetValue(const RegistryKey& key, const FlagValue& value) {
  return RegSetValueExW(key.get(), kFlags, 0, value.type,
                        reinterpret_cast<const BYTE*>(value.bytes.data()),
                        static_cast<DWORD>(value.bytes.size()));
}

// Of keys that others have put something into meanwhile, none is removed.
LSTATUS RemoveIfEmpty(const std::wstring& path) {
  {
    RegistryKey key;
    DWORD keys = 0;
    DWORD values = 0;
    LSTATUS status = OpenPath(path, KEY_QUERY_VALUE, key);
    if (status == ERROR_FILE_NOT_FOUND) return ERROR_SUCCESS;
    if (status == ERROR_SUCCESS) {
      status = RegQueryInfoKeyW(key.get(), nullptr, nullptr, nullptr, &keys, nullptr, nullptr,
                                &values, nullptr, nullptr, nullptr, nullptr);
    }
    if (status != ERROR_SUCCESS || keys != 0 || values != 0) return status;
  }
  const LSTATUS removed = RegDeleteKeyExW(HKEY_LOCAL_MACHINE, path.c_str(), KEY_WOW64_64KEY, 0);
  return removed == ERROR_FILE_NOT_FOUND ? ERROR_SUCCESS : removed;
}

std::vector<std::wstring> NamesOfKeysIn(const RegistryKey& key) {
  std::vector<std::wstring> names;
  for (DWORD index = 0;; ++index) {
    wchar_t name[256];
    DWORD length = static_cast<DWORD>(std::size(name));
    const LSTATUS status =
        RegEnumKeyExW(key.get(), index, name, &length, nullptr, nullptr, nullptr, nullptr);
    if (status != ERROR_SUCCESS) return names;
    names.emplace_back(name, length);
  }
}

std::int64_t ChangeTimeOf(const RegistryKey& key) {
  FILETIME time{};
  RegQueryInfoKeyW(key.get(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                   nullptr, nullptr, nullptr, &time);
  const auto ticks =
      static_cast<std::int64_t>(std::uint64_t{time.dwHighDateTime} << 32U | time.dwLowDateTime);
  return ticks / kTicksPerSecond - kSecondsTo1970;
}

void AddFlagIn(const RegistryKey& key, const FlaggedImage& image, std::vector<FoundFlag>& found) {
  FlagValue value;
  if (ReadValue(key, value) == ERROR_SUCCESS) found.push_back({image, value, ChangeTimeOf(key)});
}

}  // namespace

Expected<RegistryFlag> ReadFlag(const FlaggedImage& image) {
  const std::vector<std::wstring> paths = PathsOf(image);
  RegistryFlag flag;
  for (std::size_t level = 0; level < paths.size(); ++level) {
    RegistryKey key;
    LSTATUS status = OpenPath(paths[level], KEY_QUERY_VALUE, key);
    if (status == ERROR_FILE_NOT_FOUND) {
      flag.missing_keys = static_cast<int>(paths.size() - level);
      return flag;
    }
    const bool is_innermost = level + 1 == paths.size();
    FlagValue value;
    if (status == ERROR_SUCCESS && is_innermost) status = ReadValue(key, value);
    if (status == ERROR_SUCCESS && is_innermost) flag.value = value;
    if (status == ERROR_MORE_DATA) return CannotRead(TextOf(image), "it has too many bytes");
    if (status != ERROR_SUCCESS && status != ERROR_FILE_NOT_FOUND) {
      return CannotRead(TextOf(image), WindowsErrorText(static_cast<DWORD>(status)));
    }
  }
  return flag;
}

Expected<void> MayChangeFlags() {
  RegistryKey key;
  const LSTATUS status = OpenPath(kOptions, KEY_CREATE_SUB_KEY | KEY_SET_VALUE, key);
  if (status == ERROR_SUCCESS) return {};
  if (status == ERROR_ACCESS_DENIED) {
    return UsageError("only an administrator may change them; run this as administrator");
  }
  return InconclusiveError(WindowsErrorText(static_cast<DWORD>(status)));
}

Expected<void> WriteFlag(const FlaggedImage& image, const FlagValue& value) {
  RegistryKey key;
  LSTATUS status = RegCreateKeyExW(HKEY_LOCAL_MACHINE, PathsOf(image).back().c_str(), 0, nullptr, 0,
                                   KEY_SET_VALUE | KEY_WOW64_64KEY, nullptr, key.to(), nullptr);
  if (status == ERROR_SUCCESS) status = SetValue(key, value);
  return status == ERROR_SUCCESS ? Expected<void>{} : CannotChange(image, status);
}

Expected<void> RestoreFlag(const FlaggedImage& image, const std::optional<FlagValue>& former,
                           int new_keys) {
  if (former) return WriteFlag(image, *former);
  std::vector<std::wstring> paths = PathsOf(image);
  {
    RegistryKey key;
    LSTATUS status = OpenPath(paths.back(), KEY_SET_VALUE, key);
    if (status == ERROR_SUCCESS) status = RegDeleteValueW(key.get(), kFlags);
    if (status != ERROR_SUCCESS && status != ERROR_FILE_NOT_FOUND) {
      return CannotChange(image, status);
    }
  }
  for (; new_keys > 0 && !paths.empty(); --new_keys, paths.pop_back()) {
    const LSTATUS status = RemoveIfEmpty(paths.back());
    if (status != ERROR_SUCCESS) return CannotChange(image, status);
  }
  return {};
}

Expected<std::vector<FoundFlag>> FindFlags() {
  std::vector<FoundFlag> found;
  RegistryKey options;
  const LSTATUS status = OpenPath(kOptions, KEY_ENUMERATE_SUB_KEYS, options);
  if (status == ERROR_FILE_NOT_FOUND) return found;
  if (status != ERROR_SUCCESS) {
    return CannotRead("programs", WindowsErrorText(static_cast<DWORD>(status)));
  }
  for (const std::wstring& image : NamesOfKeysIn(options)) {
    RegistryKey key;
    const std::wstring path = kOptions + (L'\\' + image);
    if (OpenPath(path, KEY_QUERY_VALUE | KEY_ENUMERATE_SUB_KEYS, key) != ERROR_SUCCESS) continue;
    AddFlagIn(key, {Utf8Of(image)}, found);
    for (const std::wstring& application : NamesOfKeysIn(key)) {
      RegistryKey inner;
      if (OpenPath(path + L'\\' + application, KEY_QUERY_VALUE, inner) != ERROR_SUCCESS) continue;
      AddFlagIn(inner, {Utf8Of(image), Utf8Of(application)}, found);
    }
  }
  return found;
}

}  // namespace leakgate
