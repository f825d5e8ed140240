#include "plugin/agent/linux/memory_maps.h"

#include <fcntl.h>

#include <cstring>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// Reads /proc/self/maps line by line into the caller's buffer.
class MapsReader {
 public:
  MapsReader(char* line, std::uint32_t line_bytes) : line_(line), line_bytes_(line_bytes) {
    fd_ = RawSyscall(SYS_openat, AT_FDCWD, Word("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  }
  ~MapsReader() {
    if (!IsError(fd_)) CloseDescriptor(static_cast<int>(fd_));
  }
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  bool NextLine() {
    std::uint32_t length = 0;
    for (char byte = 0; ReadByte(byte);) {
      if (byte == '\n') {
        line_[length] = '\0';
        return true;
      }
      if (length < line_bytes_ - 1) line_[length++] = byte;
    }
    return false;
  }

 private:
  bool ReadByte(char& byte) {
    if (at_ == filled_) {
      if (IsError(fd_)) return false;
      const long got = RawSyscall(SYS_read, fd_, Word(buffer_), sizeof(buffer_));
      if (got <= 0) return false;
      at_ = 0;
      filled_ = got;
    }
    byte = buffer_[at_++];
    return true;
  }

  char* line_;
  std::uint32_t line_bytes_;
  long fd_ = -1;
  char buffer_[512];
  long at_ = 0;
  long filled_ = 0;
};

std::uint64_t ParseHex(const char*& at) {
  std::uint64_t value = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(*at - '0');
    } else if (*at >= 'a' && *at <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(*at - 'a') + 10;
    } else {
      return value;
    }
  }
}

// "begin-end perms offset dev inode   path"
MemoryMapping ParseLine(const char* line) {
  MemoryMapping mapping;
  mapping.begin = ParseHex(line);
  if (*line++ != '-') return {};
  mapping.end = ParseHex(line);
  mapping.path = std::strpbrk(line, "/[");
  return mapping;
}

}  // namespace

MemoryMapping FindMapping(std::uint64_t address, char* buffer, std::uint32_t buffer_bytes) {
  MapsReader maps(buffer, buffer_bytes);
  while (maps.NextLine()) {
    const MemoryMapping mapping = ParseLine(buffer);
    if (address >= mapping.begin && address < mapping.end) return mapping;
  }
  return {};
}

}  // namespace leakgate::agent
