// Tells whether a file has changed, without reading it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "runner/base/descriptors.h"

namespace leakgate {

// A file as the kernel describes it. Any change of the file's bytes changes this, unless the clock
// has not moved on since the last change.
struct FileVersion {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // also when the times were set, or the file was renamed

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

// Returns the version of the file that the path leads to; nullopt if it is no regular file.
[[nodiscard]] std::optional<FileVersion> VersionOf(const std::filesystem::path& path);
// Returns the version of an open file.
[[nodiscard]] std::optional<FileVersion> VersionOf(const UniqueFd& file);

// Returns whether the file was last changed so long ago that another change would have a different
// time.
[[nodiscard]] bool IsSettled(const FileVersion& version,
                             std::chrono::nanoseconds long_enough = std::chrono::seconds(2));

}  // namespace leakgate
