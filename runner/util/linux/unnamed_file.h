// A file that has no name until it is complete: the kernel takes it away with its writer,
// however that ends, kill -9 included.
#pragma once

#include <sys/stat.h>

#include <string>
#include <system_error>

#include "runner/util/linux/unique_fd.h"

namespace leakgate {

// To write to, for a file in `directory`, which is open. None where the file system has no such
// files, or where they could not be named later (no /proc).
[[nodiscard]] UniqueFd OpenUnnamedFile(int directory, mode_t mode);

// Gives what is open as `fd` its first name. std::errc::file_exists if that is taken.
// REQUIRES: `directory` is the one that the file was opened in.
[[nodiscard]] std::error_code NameFile(int fd, int directory, const std::string& name);

// To write to: a file that was not there. From its first moment on nobody may open it whom it is
// not for.
[[nodiscard]] UniqueFd CreateNewFile(int directory, const std::string& name, mode_t mode);

// For where naming is forbidden: what is open as `fd`, with its rights, in a new file.
[[nodiscard]] std::error_code CopyToNewFile(int fd, int directory, const std::string& name);

// Gives what is open as `fd` the mode of the file that it is to replace, and as far as may be
// its owner and group.
void TakeRightsOf(const struct stat& replaced, int fd);

}  // namespace leakgate
