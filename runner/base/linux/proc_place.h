// Where paths of /proc are looked up. In /proc itself; or, in a process that must not be kept
// waiting, in an instance of it that nobody else has: anybody can keep look-ups of new names in
// /proc waiting for as long as he likes, by listing it into memory of a file system of his own.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <compare>
#include <cstdint>
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

// These take any path; one of /proc is absolute.

// Opens the path, with O_CLOEXEC. errno tells why it failed.
[[nodiscard]] UniqueFd OpenPlaceOf(const std::string& path, int access);
// The same, of the /proc that all share: it may keep the calling thread waiting.
[[nodiscard]] UniqueFd OpenSharedPlaceOf(const std::string& path, int access);
// Returns what the path leads to; nothing if there is no such thing.
[[nodiscard]] std::optional<struct stat> StatPlaceOf(const std::string& path);
// The same by statx(2), of what the kernel knows without asking a server of the file system, which
// may never answer: the type and the device.
[[nodiscard]] std::optional<struct statx> StatKnownOf(const std::string& path);
// Returns the text of a link, of "/proc/self/fd/3" say; empty if it cannot be read (errno).
[[nodiscard]] std::string ReadLinkOf(const std::string& path);

// Tells a file from all others that there are at the moment, whatever its names are.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend auto operator<=>(const FileId&, const FileId&) = default;
};
inline FileId IdOf(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

}  // namespace leakgate
