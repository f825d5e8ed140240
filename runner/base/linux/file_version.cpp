#include "runner/base/file_version.h"

#include <sys/stat.h>

#include <algorithm>

namespace leakgate {
namespace {

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<FileVersion> VersionIn(const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) return std::nullopt;
  return FileVersion{.device = facts.st_dev,
                     .inode = facts.st_ino,
                     .size = static_cast<std::uint64_t>(facts.st_size),
                     .modified_ns = Nanoseconds(facts.st_mtim),
                     .changed_ns = Nanoseconds(facts.st_ctim)};
}

}  // namespace

std::optional<FileVersion> VersionOf(const std::filesystem::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? VersionIn(facts) : std::nullopt;
}

std::optional<FileVersion> VersionOf(const UniqueFd& file) {
  struct stat facts {};
  return ::fstat(file.get(), &facts) == 0 ? VersionIn(facts) : std::nullopt;
}

bool IsSettled(const FileVersion& version, std::chrono::nanoseconds long_enough) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  return now.count() - std::max(version.changed_ns, version.modified_ns) >= long_enough.count();
}

}  // namespace leakgate
