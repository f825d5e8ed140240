// Files that somebody else may have made, or named: only regular ones are opened. A FIFO would
// have the runner wait for ever, and a device may feed it for ever, or act on being opened.
//
// What it is is asked of the file before it is opened, and the very file that was asked is opened
// then: nobody can put another into its place in between.
//
// Nothing else in runner/ opens files by their names, but for what `ci/checks opens` lists.
#pragma once

#include <sys/types.h>

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

// For reading. The error's message says why not: "No such file or directory", "it is a FIFO,
// not a regular file". A link is followed.
[[nodiscard]] tl::expected<UniqueFd, std::error_code> OpenRegularFile(
    const std::filesystem::path& path);

// The same, if `accepts` the file by the name that the kernel has for it: absolute, without
// links and "..".
using AcceptsName = std::function<bool(const std::string& name)>;
[[nodiscard]] tl::expected<UniqueFd, std::error_code> OpenRegularFileIf(
    const std::filesystem::path& path, const AcceptsName& accepts);

// All that there is from where `file` stands on. An error where that is more than `most_bytes`:
// a file may say that it is small, and grow while it is read.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadToEnd(const UniqueFd& file,
                                                                   std::uint64_t most_bytes);

// The two in one go.
[[nodiscard]] tl::expected<std::string, std::error_code> ReadRegularFile(
    const std::filesystem::path& path, std::uint64_t most_bytes);

// What is not read as a whole. It is bad() once reading has failed.
[[nodiscard]] std::unique_ptr<std::istream> StreamOf(UniqueFd file);

// Whether elfutils may be let open `path` by its name: it is a regular file, or none at all.
[[nodiscard]] bool IsRegularOrMissing(const std::filesystem::path& path);

// Opens files with another user's rights, on one thread, for as long as it lives: root's
// runner looks at files that a process of another user names, and must not open for it what
// it could not open itself.
//
// Does nothing unless this process is root and the user is not: there is nobody else that a
// runner hears. The user's supplementary groups are not known, so they count for nothing.

class FileRights {
 public:
  // From now on this thread opens files as `uid` and `gid` may (setfsuid(2)).
  FileRights(uid_t uid, gid_t gid);
  // And from now on as before.
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  // False: the kernel did not allow it; open nothing.
  [[nodiscard]] bool hold() const { return hold_; }

 private:
  const bool differ_;
  bool hold_ = true;
  int dumpable_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace leakgate
