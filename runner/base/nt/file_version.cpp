#include "runner/base/file_version.h"

#include <algorithm>

#include "runner/base/nt/win32.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

// From 100 ns since 1601 to nanoseconds since 1970.
std::int64_t Nanoseconds(LARGE_INTEGER time) {
  constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;
  return (time.QuadPart - kUnixEpoch) * 100;
}

}  // namespace

std::optional<FileVersion> VersionOf(const std::filesystem::path& path) {
  const auto file = OpenRegularFile(path);
  return file ? VersionOf(*file) : std::nullopt;
}

std::optional<FileVersion> VersionOf(const UniqueFd& file) {
  BY_HANDLE_FILE_INFORMATION identity{};
  FILE_BASIC_INFO times{};
  if (!GetFileInformationByHandle(HandleOf(file), &identity) ||
      !GetFileInformationByHandleEx(HandleOf(file), FileBasicInfo, &times, sizeof(times))) {
    return std::nullopt;
  }
  return FileVersion{.device = identity.dwVolumeSerialNumber,
                     .inode = std::uint64_t{identity.nFileIndexHigh} << 32 | identity.nFileIndexLow,
                     .size = std::uint64_t{identity.nFileSizeHigh} << 32 | identity.nFileSizeLow,
                     .modified_ns = Nanoseconds(times.LastWriteTime),
                     .changed_ns = Nanoseconds(times.ChangeTime)};
}

bool IsSettled(const FileVersion& version, std::chrono::nanoseconds long_enough) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  return now.count() - std::max(version.changed_ns, version.modified_ns) >= long_enough.count();
}

}  // namespace leakgate
