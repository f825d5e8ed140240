#include "plugin/agent/linux/memory_maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

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

long ParseProtection(const char* perms) {
  return (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
         (perms[2] == 'x' ? PROT_EXEC : 0);
}

// Parses a line of the form "begin-end perms offset dev inode   path".
MemoryMapping ParseLine(const char* line) {
  MemoryMapping mapping;
  mapping.begin = ParseHex(line);
  if (*line++ != '-') return {};
  mapping.end = ParseHex(line);
  if (*line++ != ' ') return {};
  mapping.protection = ParseProtection(line);
  line += std::strcspn(line, " ");
  if (*line == ' ') mapping.offset = ParseHex(++line);
  mapping.path = std::strpbrk(line, "/[");
  return mapping;
}

}  // namespace

MapsReader::MapsReader(std::span<char> line, std::span<char> buffer)
    : line_(line),
      buffer_(buffer),
      fd_(RawSyscall(SYS_openat, AT_FDCWD, Word("/proc/self/maps"), O_RDONLY | O_CLOEXEC)) {}

MapsReader::~MapsReader() {
  if (!IsError(fd_)) CloseDescriptor(static_cast<int>(fd_));
}

bool MapsReader::Next(MemoryMapping& mapping) {
  if (!NextLine()) return false;
  mapping = ParseLine(line_.data());
  return true;
}

bool MapsReader::NextLine() {
  std::uint32_t length = 0;
  for (char byte = 0; ReadByte(byte);) {
    if (byte == '\n') {
      line_[length] = '\0';
      return true;
    }
    if (length < line_.size() - 1) line_[length++] = byte;
  }
  return false;
}

bool MapsReader::ReadByte(char& byte) {
  if (at_ == filled_) {
    if (IsError(fd_)) return false;
    const long got =
        RawSyscall(SYS_read, fd_, Word(buffer_.data()), static_cast<long>(buffer_.size()));
    if (got <= 0) return false;
    at_ = 0;
    filled_ = got;
  }
  byte = buffer_[static_cast<std::size_t>(at_++)];
  return true;
}

MemoryMapping FindMapping(std::uint64_t address, char* buffer, std::uint32_t buffer_bytes) {
  char read[512];
  MapsReader maps({buffer, buffer_bytes}, read);
  for (MemoryMapping mapping; maps.Next(mapping);) {
    if (address >= mapping.begin && address < mapping.end) return mapping;
  }
  return {};
}

const char* PathInName(const char* link_name) {
  if (link_name == nullptr) return nullptr;
  if (std::strncmp(link_name, "linux-vdso", 10) == 0) return "[vdso]";
  return link_name[0] == '/' ? link_name : nullptr;
}

const char* PathOfMapping(std::uint64_t address, PathBuffer& buffer) {
  const char* const path = FindMapping(address, buffer.text, kMaxPathBytes).path;
  return path == nullptr ? "" : path;
}

}  // namespace leakgate::agent
