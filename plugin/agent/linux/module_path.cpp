#include "plugin/agent/linux/module_path.h"

#include <fcntl.h>

#include <cstring>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

// Reads /proc/self/maps line by line into the caller's buffer.
class MapsReader {
 public:
  explicit MapsReader(PathBuffer& line) : line_(line) {
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
        line_.text[length] = '\0';
        return true;
      }
      if (length < kMaxPathBytes - 1) line_.text[length++] = byte;
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

  PathBuffer& line_;
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

// "begin-end perms offset dev inode   path": the path, if `address` is in it.
const char* PathOfLine(const char* line, std::uint64_t address) {
  const std::uint64_t begin = ParseHex(line);
  if (*line++ != '-') return nullptr;
  const std::uint64_t end = ParseHex(line);
  if (address < begin || address >= end) return nullptr;
  return std::strpbrk(line, "/[");
}

}  // namespace

const char* ModulePath(const char* link_name, std::uint64_t begin, PathBuffer& buffer) {
  if (link_name != nullptr && link_name[0] == '/') return link_name;
  if (link_name != nullptr && std::strncmp(link_name, "linux-vdso", 10) == 0) return "[vdso]";

  MapsReader maps(buffer);
  while (maps.NextLine()) {
    const char* const path = PathOfLine(buffer.text, begin);
    if (path != nullptr) return path;
  }
  return "";
}

}  // namespace leakgate::agent
