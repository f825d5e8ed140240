// Owns a file descriptor. Plain RAII.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "runner/base/expected.h"

namespace leakgate {

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

  // Whoever calls it owns it from now on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  void Reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// What errno says, for messages.

inline std::string ErrnoText(int error = errno) { return std::generic_category().message(error); }

// A shared mapping of a descriptor, unmapped when it goes.

enum class MappingAccess { kReadOnly, kReadWrite };

class Mapping {
 public:
  // `offset` and `bytes` in whole pages. Fails when the address space is short.
  [[nodiscard]] static Expected<Mapping> Map(const UniqueFd& fd, std::uint64_t offset,
                                             std::size_t bytes, MappingAccess access);

  Mapping() = default;
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return begin_; }
  std::size_t size() const { return bytes_; }

 private:
  Mapping(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace leakgate
