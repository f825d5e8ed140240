// Wrappers of what the operating system provides: file descriptors, shared mappings, pages of
// sparse files, errno as text and as a value, this process, and users.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

// Closes a descriptor that is open.
void CloseDescriptor(int fd);

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  // Hands the descriptor over to the caller, who must close it.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Reset() {
    if (fd_ >= 0) CloseDescriptor(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// The system's message for `error`, such as "No such file or directory".
inline std::string ErrnoText(int error = errno) { return std::generic_category().message(error); }

inline std::error_code LastErrorCode() { return {errno, std::generic_category()}; }

enum class MappingAccess { kReadOnly, kReadWrite };

// Owns a shared mapping of a descriptor. The descriptor may be closed while the mapping lives.
class Mapping {
 public:
  // Fails if the address space is too small. REQUIRES: `offset` is a multiple of the page size.
  [[nodiscard]] static Expected<Mapping> Map(const UniqueFd& fd, std::uint64_t offset,
                                             std::size_t bytes, MappingAccess access);

  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return begin_; }
  std::size_t size() const { return bytes_; }

  // Returns the pages that have been read to the kernel. They stay in the descriptor's memory and
  // come back when they are read again.
  void ReleasePages() const;

 private:
  Mapping(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

[[nodiscard]] int OwnPid();

// Returns the number of the user whose rights this process has; 0 is root.
[[nodiscard]] unsigned EffectiveUser();

// Returns the number of the user called `name`; nothing if there is none. Not thread-safe
// (getpwnam).
[[nodiscard]] std::optional<unsigned> FindUser(const std::string& name);

// A part of a file.
struct FileRange {
  std::uint64_t begin = 0;  // in bytes
  std::uint64_t end = 0;
};

// Returns the ranges of the sparse file `fd` within `within` that have pages, or `within` if the
// kernel cannot tell. Reading a hole of shared memory through a mapping would allocate pages for
// it, so the runner never reads holes.
[[nodiscard]] std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within);

// Makes a stream of the C library, in binary mode, which closes the file at its end. `mode` is as
// for fopen. Returns nullptr on failure; errno tells why.
[[nodiscard]] std::FILE* OpenStdioFile(UniqueFd file, const char* mode);

}  // namespace leakgate
