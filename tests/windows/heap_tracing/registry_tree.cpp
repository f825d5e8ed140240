#include "tests/windows/heap_tracing/registry_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "runner/base/nt/win32.h"
// This needs <windows.h> in front of it.
#include <sddl.h>

namespace leakgate::test {
namespace {

constexpr wchar_t kTree[] =
    L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Image File Execution Options";

using Tree = std::map<std::wstring, std::map<std::wstring, std::string>>;

std::map<std::wstring, std::string> ValuesIn(HKEY key) {
  std::map<std::wstring, std::string> values;
  for (DWORD index = 0;; ++index) {
    wchar_t name[256];
    DWORD length = static_cast<DWORD>(std::size(name));
    BYTE bytes[512];
    DWORD size = sizeof(bytes);
    DWORD type = 0;
    if (RegEnumValueW(key, index, name, &length, nullptr, &type, bytes, &size) != ERROR_SUCCESS) {
      return values;
    }
    std::string text = fmt::format("{}:", type);
    for (DWORD at = 0; at < size; ++at) text += fmt::format("{:02x}", bytes[at]);
    values[{name, length}] = text;
  }
}

void AddKey(const std::wstring& path, const std::function<bool(const std::wstring&)>& accepts,
            Tree& tree) {
  HKEY key = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, path.c_str(), 0, KEY_READ | KEY_WOW64_64KEY, &key) !=
      ERROR_SUCCESS) {
    return;
  }
  if (path != kTree) tree[path] = ValuesIn(key);
  for (DWORD index = 0;; ++index) {
    wchar_t name[256];
    DWORD length = static_cast<DWORD>(std::size(name));
    if (RegEnumKeyExW(key, index, name, &length, nullptr, nullptr, nullptr, nullptr) !=
        ERROR_SUCCESS) {
      break;
    }
    if (accepts(name)) {
      AddKey(
          path + L'\\' + name, [](const std::wstring&) { return true; }, tree);
    }
  }
  RegCloseKey(key);
}

HKEY Make(const std::wstring& image, REGSAM rights) {
  HKEY key = nullptr;
  const LSTATUS made =
      RegCreateKeyExW(HKEY_LOCAL_MACHINE, (kTree + (L'\\' + image)).c_str(), 0, nullptr, 0,
                      rights | KEY_WOW64_64KEY, nullptr, &key, nullptr);
  EXPECT_EQ(made, ERROR_SUCCESS);
  return key;
}

void SetAccess(HKEY key, const wchar_t* description) {
  PSECURITY_DESCRIPTOR access = nullptr;
  ASSERT_TRUE(ConvertStringSecurityDescriptorToSecurityDescriptorW(description, SDDL_REVISION_1,
                                                                   &access, nullptr));
  EXPECT_EQ(RegSetKeySecurity(key, DACL_SECURITY_INFORMATION, access), ERROR_SUCCESS);
  LocalFree(access);
}

}  // namespace

Tree ReadTree(const std::wstring& prefix) {
  Tree tree;
  AddKey(
      kTree, [&](const std::wstring& name) { return name.starts_with(prefix); }, tree);
  return tree;
}

void SetNumber(const std::wstring& image, const wchar_t* value, std::uint32_t number) {
  HKEY key = Make(image, KEY_SET_VALUE);
  RegSetValueExW(key, value, 0, REG_DWORD, reinterpret_cast<const BYTE*>(&number), sizeof(number));
  RegCloseKey(key);
}

void SetText(const std::wstring& image, const wchar_t* value, const std::wstring& text) {
  HKEY key = Make(image, KEY_SET_VALUE);
  RegSetValueExW(key, value, 0, REG_SZ, reinterpret_cast<const BYTE*>(text.c_str()),
                 static_cast<DWORD>(2 * text.size() + 2));
  RegCloseKey(key);
}

void MakeKey(const std::wstring& image) { RegCloseKey(Make(image, KEY_SET_VALUE)); }

void RemoveTree(const std::wstring& image) {
  HKEY tree = nullptr;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, kTree, 0, KEY_ALL_ACCESS | KEY_WOW64_64KEY, &tree) !=
      ERROR_SUCCESS) {
    return;
  }
  RegDeleteTreeW(tree, image.c_str());
  RegCloseKey(tree);
}

DeniedKey::DeniedKey(const std::wstring& image) : image_(image) {
  key_ = Make(image, WRITE_DAC | READ_CONTROL);
  SetAccess(static_cast<HKEY>(key_), L"D:(A;;KR;;;WD)");
}

DeniedKey::~DeniedKey() {
  SetAccess(static_cast<HKEY>(key_), L"D:(A;;KA;;;WD)");
  RegCloseKey(static_cast<HKEY>(key_));
}

}  // namespace leakgate::test
