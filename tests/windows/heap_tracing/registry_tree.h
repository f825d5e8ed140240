// What is in the registry, key by key, for tests to compare and to change.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace leakgate::test {

// Returns each key of the Image File Execution Options whose name begins with `prefix`, and each
// below it, with a text of each of its values: "\TracingFlags" -> "4:01000000".
[[nodiscard]] std::map<std::wstring, std::map<std::wstring, std::string>> ReadTree(
    const std::wstring& prefix);

// Sets a value of an image's key, which is made if it is not there.
void SetNumber(const std::wstring& image, const wchar_t* value, std::uint32_t number);
void SetText(const std::wstring& image, const wchar_t* value, const std::wstring& text);
void MakeKey(const std::wstring& image);
// Removes the key and all below it.
void RemoveTree(const std::wstring& image);
// While an object of this class lives, nobody may change the image's key.
class DeniedKey {
 public:
  explicit DeniedKey(const std::wstring& image);
  ~DeniedKey();
  DeniedKey(const DeniedKey&) = delete;
  DeniedKey& operator=(const DeniedKey&) = delete;

 private:
  std::wstring image_;
  void* key_ = nullptr;
};

}  // namespace leakgate::test
