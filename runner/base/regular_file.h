// Opens files that others may have created or named, and opens regular files only: the runner would
// wait for ever for a FIFO, and a device may return bytes for ever, or act when it is opened.
//
// The type of the file is checked first, and then that same file is opened: nobody can exchange it
// in between.
//
// Nothing else in runner/ opens files by their names, except for what ci/checks (MAY_OPEN) lists.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

// Opens a file for reading, and follows links. The message of the error says what is wrong: "No
// such file or directory", or "it is a FIFO, not a regular file".
[[nodiscard]] tl::expected<UniqueFd, std::error_code> OpenRegularFile(
    const std::filesystem::path& path);

// Opens the file only if `accepts` returns true for the kernel's name of it, which is an absolute
// path without links and "..".
using AcceptsName = std::function<bool(const std::string& name)>;
[[nodiscard]] tl::expected<UniqueFd, std::error_code> OpenRegularFileIf(
    const std::filesystem::path& path, const AcceptsName& accepts);

// Opens the file `name` in an open directory; a link is no regular file.
[[nodiscard]] tl::expected<UniqueFd, std::error_code> OpenRegularFileIn(const UniqueFd& directory,
                                                                        const std::string& name);

// Reads from the file's current position to its end. Fails if that is more than `most_bytes`: the
// size that a file claims is not relied on, and it may grow while it is read.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadToEnd(const UniqueFd& file,
                                                                   std::uint64_t most_bytes);

// Opens and reads a file: OpenRegularFile and ReadToEnd in one call.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadRegularFile(
    const std::filesystem::path& path, std::uint64_t most_bytes);

// Makes a stream that reads `file`, for files that are too large to be read at once. The stream
// is bad() after an error of reading.
[[nodiscard]] std::unique_ptr<std::istream> MakeInputStream(UniqueFd file);

// True if `path` is a regular file, or if there is no such file. Checked before elfutils opens a
// file by its name.
[[nodiscard]] bool IsRegularOrMissing(const std::filesystem::path& path);

// While an object of this class lives, its thread opens files with another user's rights. A runner
// of root's looks at files that a process of another user names, and must not open anything for
// that process that the process itself could not open.
//
// It has an effect only if this process is root and the user is not. In all other cases the two are
// the same user, since a runner listens to nobody else. The user's supplementary groups are not
// known, so they grant no rights.
class FileRights {
 public:
  // Makes this thread open files as `uid` and `gid` may (setfsuid(2)).
  FileRights(unsigned uid, unsigned gid);
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  // False if the kernel has refused the change. The caller must then open nothing.
  [[nodiscard]] bool are_in_force() const { return are_in_force_; }

 private:
  const bool differ_;
  bool are_in_force_ = true;
  int dumpable_ = 0;
  std::vector<unsigned> groups_;
};

}  // namespace leakgate
