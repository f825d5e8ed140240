// Where paths of /proc are looked up: in /proc itself, or in an instance of /proc that no other
// process has. The latter is for a process that must never block: any user can block look-ups of
// new names in /proc for as long as he likes, by listing it into memory of a file system of his
// own.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

// Gives this process and those that it forks from now on an instance of their own. Has no effect
// where the kernel does not allow it (fsopen(2), which takes CAP_SYS_ADMIN). REQUIRES: this process
// has one thread.
void UseOwnProc();
// The instance's descriptor, which must be kept open; -1 if there is none.
[[nodiscard]] int OwnProcDescriptor();

// These take any path; a path in /proc must be absolute.

// Opens the path, with O_CLOEXEC. errno tells why it failed.
[[nodiscard]] UniqueFd OpenPlaceOf(const std::string& path, int access);
// Does the same in the /proc that all processes share: it may block the calling thread.
[[nodiscard]] UniqueFd OpenSharedPlaceOf(const std::string& path, int access);
// Returns what the path leads to; nothing if there is no such thing.
[[nodiscard]] std::optional<struct stat> StatPlaceOf(const std::string& path);
// Does the same by statx(2), with what the kernel knows without asking a server of the file system,
// which may never answer: the type and the device.
[[nodiscard]] std::optional<struct statx> StatKnownOf(const std::string& path);
// Returns the target of a link, such as "/proc/self/fd/3"; empty if it cannot be read (errno).
[[nodiscard]] std::string ReadLinkOf(const std::string& path);

// Distinguishes a file from all others that exist at the moment, whatever its names are.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend auto operator<=>(const FileId&, const FileId&) = default;
};
inline FileId IdOf(const struct stat& facts) { return {facts.st_dev, facts.st_ino}; }

}  // namespace leakgate
