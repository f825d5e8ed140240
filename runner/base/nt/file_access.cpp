#include "runner/base/file_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

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
  return Utf8Of(TextThat([](wchar_t* to, DWORD units) { return GetTempPathW(units, to); }));
}

UniqueFd OpenTemporaryFile() {
  constexpr DWORD kGoneWhenClosed = FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE;
  std::random_device random;
  const std::wstring path =
      WideOf(fmt::format("{}leakgate-{:08x}{:08x}.tmp", TemporaryFolder(), random(), random()));
  UniqueFd file = OwnHandle(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                        CREATE_NEW, kGoneWhenClosed, nullptr));
  if (!file) SetErrnoFromWindows();
  return file;
}

}  // namespace leakgate
