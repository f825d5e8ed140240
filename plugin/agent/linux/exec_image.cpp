#include "plugin/agent/linux/exec_image.h"

#include <elf.h>
#include <fcntl.h>

#include <cstdint>
#include <cstring>

#include "plugin/agent/arch/processor.h"
#include "plugin/agent/linux/syscall.h"

#include LEAKGATE_ARCH(elf)

namespace leakgate::agent {
namespace {

constexpr int kMostSegments = 64;
constexpr int kMostInterpreters = 4;  // the kernel's limit: a script's interpreter may be a script

// A file, which is closed by the destructor. A file that cannot be read counts as empty.
class ReadFile {
 public:
  // A pipe would block.
  explicit ReadFile(const char* path)
      : fd_(static_cast<int>(
            RawSyscall(SYS_openat, AT_FDCWD, Word(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {}
  ~ReadFile() {
    if (fd_ >= 0) CloseDescriptor(fd_);
  }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  // Returns how many bytes there were.
  std::size_t Read(std::uint64_t offset, void* to, std::size_t bytes) const {
    const long read =
        RawSyscall(SYS_pread64, fd_, Word(to), static_cast<long>(bytes), static_cast<long>(offset));
    return IsError(read) ? 0 : static_cast<std::size_t>(read);
  }
  template <typename T>
  bool Read(std::uint64_t offset, T& to) const {
    return Read(offset, &to, sizeof(to)) == sizeof(to);
  }
  // Reads the begin of the text there.
  template <std::size_t kBytes>
  void ReadText(std::uint64_t offset, char (&to)[kBytes]) const {
    to[Read(offset, to, kBytes - 1)] = '\0';
  }

 private:
  int fd_;
};

// The names of runtimes that must be the first to define malloc, and are not part of the
// executable.
bool IsSanitizer(const char* library) {
  constexpr const char* kRuntimes[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so",
                                       "libclang_rt."};
  for (const char* const name : kRuntimes) {
    if (std::strncmp(library, name, std::strlen(name)) == 0) return true;
  }
  return false;
}

class Image {
 public:
  Image(const ReadFile& file, const Elf64_Ehdr& header) : file_(file), header_(header) {}

  bool TakesAgent() const {
    if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != kElfMachine) return false;
    Elf64_Phdr interpreter;
    if (!FindSegment(PT_INTERP, interpreter)) return true;
    char name[256];
    file_.ReadText(interpreter.p_offset, name);
    return std::strstr(name, "musl") == nullptr && !NeedsSanitizer();
  }

 private:
  bool ReadSegment(int index, Elf64_Phdr& segment) const {
    return index < header_.e_phnum && index < kMostSegments &&
           file_.Read(header_.e_phoff + std::uint64_t(index) * sizeof(segment), segment);
  }

  bool FindSegment(std::uint32_t type, Elf64_Phdr& segment) const {
    for (int i = 0; ReadSegment(i, segment); ++i) {
      if (segment.p_type == type) return true;
    }
    return false;
  }

  // Returns the offset in the file of the byte that is loaded at `address`; 0 if there is none.
  std::uint64_t OffsetOf(std::uint64_t address) const {
    Elf64_Phdr segment;
    for (int i = 0; ReadSegment(i, segment); ++i) {
      if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz) {
        return address - segment.p_vaddr + segment.p_offset;
      }
    }
    return 0;
  }

  // Finds the next entry of `tag` from `offset` on, and moves `offset` past it.
  bool FindEntry(const Elf64_Phdr& dynamic, Elf64_Sxword tag, std::uint64_t& offset,
                 Elf64_Dyn& entry) const {
    while (offset < dynamic.p_filesz && file_.Read(dynamic.p_offset + offset, entry)) {
      offset += sizeof(entry);
      if (entry.d_tag == tag) return true;
      if (entry.d_tag == DT_NULL) return false;
    }
    return false;
  }

  bool NeedsSanitizer() const {
    Elf64_Phdr dynamic;
    Elf64_Dyn entry;
    std::uint64_t offset = 0;
    if (!FindSegment(PT_DYNAMIC, dynamic) || !FindEntry(dynamic, DT_STRTAB, offset, entry)) {
      return false;
    }
    const std::uint64_t names = OffsetOf(entry.d_un.d_ptr);
    for (offset = 0; names != 0 && FindEntry(dynamic, DT_NEEDED, offset, entry);) {
      char name[32];
      file_.ReadText(names + entry.d_un.d_val, name);
      if (IsSanitizer(name)) return true;
    }
    return false;
  }

  const ReadFile& file_;
  const Elf64_Ehdr& header_;
};

// Returns the path in "#!/bin/sh -e", in place; nullptr if it is no script.
char* InterpreterOf(char* begin) {
  if (begin[0] != '#' || begin[1] != '!') return nullptr;
  begin += 2;
  begin += std::strspn(begin, " \t");
  begin[std::strcspn(begin, " \t\n")] = '\0';
  return begin;
}

}  // namespace

bool TakesAgent(const char* path) {
  char beginning[256];
  for (int i = 0; i < kMostInterpreters && path != nullptr; ++i) {
    const ReadFile file(path);
    file.ReadText(0, beginning);
    Elf64_Ehdr header;
    if (std::memcmp(beginning, ELFMAG, SELFMAG) == 0) {
      return !file.Read(0, header) || Image(file, header).TakesAgent();
    }
    path = InterpreterOf(beginning);
  }
  return true;
}

}  // namespace leakgate::agent
