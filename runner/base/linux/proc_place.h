// Where paths of /proc are looked up. In /proc itself; or, in a process that must not be kept
// waiting, in an instance of it that nobody else has: anybody can keep look-ups of new names in
// /proc waiting for as long as he likes, by listing it into memory of a file system of his own.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <optional>
#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

// From now on this process and those that it forks have an instance of their own. Without effect
// where the kernel does not allow it (fsopen(2), which takes CAP_SYS_ADMIN). REQUIRES: this process
// has one thread.
void UseOwnProc();
// Its descriptor, which is to be kept open; -1 if there is none.
[[nodiscard]] int OwnProcDescriptor();

// A path as openat(2) and others take it. Any path may be given; one of /proc is absolute.
class ProcPlace {
 public:
  explicit ProcPlace(std::string path);

  int directory() const { return directory_; }
  const char* name() const { return path_.c_str() + begin_; }

 private:
  std::string path_;
  int directory_ = AT_FDCWD;
  std::size_t begin_ = 0;
};

// Opens the path, with O_CLOEXEC. errno tells why it failed.
[[nodiscard]] UniqueFd OpenPlaceOf(const std::string& path, int access);
// The same, of the /proc that all share: it may keep the calling thread waiting.
[[nodiscard]] UniqueFd OpenSharedPlaceOf(const std::string& path, int access);
// Returns what the path leads to; nothing if there is no such thing.
[[nodiscard]] std::optional<struct stat> StatPlaceOf(const std::string& path);
// Returns the text of a link, of "/proc/self/fd/3" say; empty if it cannot be read (errno).
[[nodiscard]] std::string ReadLinkOf(const std::string& path);

}  // namespace leakgate
