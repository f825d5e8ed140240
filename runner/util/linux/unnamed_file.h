// A file that has no name until it is complete: the kernel takes it away with its writer,
// however that ends, kill -9 included.
#pragma once

#include <filesystem>
#include <system_error>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// To write to, for a file in `directory` (empty: the current one). None where the file system
// has no such files, or where they could not be named later (no /proc).
[[nodiscard]] UniqueFd OpenUnnamedFile(const std::filesystem::path& directory,
                                       std::filesystem::perms permissions);

// Gives what is open as `fd` its first name. std::errc::file_exists if that is taken.
// REQUIRES: `path` is in the directory that the file was opened in.
[[nodiscard]] std::error_code NameFile(int fd, const std::filesystem::path& path);

// For where that is forbidden: what is open as `fd`, in a new file.
[[nodiscard]] std::error_code CopyToNewFile(int fd, const std::filesystem::path& path,
                                            std::filesystem::perms permissions);

}  // namespace leakgate
