#include "runner/base/file_access.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace leakgate {

std::size_t ReadAt(const UniqueFd& file, char* to, std::size_t size, std::uint64_t at) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(file.get(), to + done, size - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

bool WriteAt(const UniqueFd& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno != EINTR) return false;
    if (count <= 0) continue;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return true;
}

UniqueFd OpenTemporaryFile() {
  std::error_code unknown;
  std::filesystem::path directory = std::filesystem::temp_directory_path(unknown);
  if (unknown) directory = "/tmp";
  std::string path = (directory / "leakgate-XXXXXX").string();
  UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));  // only its owner can read it
  if (file) ::unlink(path.c_str());
  return file;
}

std::string TemporaryFolder() { return "/tmp"; }

}  // namespace leakgate
