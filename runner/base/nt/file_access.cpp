#include "runner/base/file_access.h"

#include <algorithm>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

OVERLAPPED PlaceAt(std::uint64_t at) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(at);
  place.OffsetHigh = static_cast<DWORD>(at >> 32);
  return place;
}

}  // namespace

std::size_t ReadAt(const UniqueFd& file, char* to, std::size_t size, std::uint64_t at) {
  std::size_t done = 0;
  while (done < size) {
    OVERLAPPED place = PlaceAt(at + done);
    const auto part = static_cast<DWORD>(std::min(size - done, kMostAtOnce));
    DWORD count = 0;
    if (!ReadFile(HandleOf(file), to + done, part, &count, &place) || count == 0) break;
    done += count;
  }
  return done;
}

bool WriteAt(const UniqueFd& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    OVERLAPPED place = PlaceAt(at);
    const auto part = static_cast<DWORD>(std::min(bytes.size(), kMostAtOnce));
    DWORD count = 0;
    if (!WriteFile(HandleOf(file), bytes.data(), part, &count, &place)) {
      SetErrnoFromWindows();
      return false;
    }
    bytes.remove_prefix(count);
    at += count;
  }
  return true;
}

std::string TemporaryFolder() {
  wchar_t folder[MAX_PATH + 1];
  return Utf8Of({folder, GetTempPathW(MAX_PATH, folder)});
}

UniqueFd OpenTemporaryFile() {
  wchar_t path[MAX_PATH + 1];
  UniqueFd file;
  if (GetTempFileNameW(WideOf(TemporaryFolder()).c_str(), L"lkg", 0, path) != 0) {
    constexpr DWORD kGoneWhenClosed = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
    file = OwnHandle(CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                                 kGoneWhenClosed, nullptr));
  }
  if (!file) SetErrnoFromWindows();
  return file;
}

}  // namespace leakgate
