// The lines of /proc/self/maps, read without the C library's help, so that nothing locks or
// allocates. This is slow, and meant for questions that are asked once.
#pragma once

#include <cstdint>
#include <span>

namespace leakgate::agent {

inline constexpr std::uint32_t kMaxPathBytes = 4096;

struct PathBuffer {
  char text[kMaxPathBytes];
};

struct MemoryMapping {
  std::uint64_t begin = 0;  // both are 0 if there is no mapping
  std::uint64_t end = 0;
  long protection = 0;         // PROT_READ ...
  std::uint64_t offset = 0;    // in the file
  const char* path = nullptr;  // in the buffer; nullptr for anonymous memory
};

// Returns the mapping that holds `address`. `buffer` may be of any length; a longer line is cut.
MemoryMapping FindMapping(std::uint64_t address, char* buffer, std::uint32_t buffer_bytes);

// Reads /proc/self/maps line by line into two buffers of the caller: one for the present line,
// which is cut if it is longer, and one for what the kernel returns at once.
class MapsReader {
 public:
  MapsReader(std::span<char> line, std::span<char> buffer);
  ~MapsReader();
  MapsReader(const MapsReader&) = delete;
  MapsReader& operator=(const MapsReader&) = delete;

  // Returns false at the end.
  bool Next(MemoryMapping& mapping);

 private:
  bool NextLine();
  bool ReadByte(char& byte);

  std::span<char> line_;
  std::span<char> buffer_;
  long fd_ = -1;
  long at_ = 0;
  long filled_ = 0;
};

// Returns the absolute path of a loaded module, "[vdso]" for the kernel's, if the dynamic linker's
// name for the module contains it: the name is empty for the program, and relative if the module
// was loaded by a relative name. Otherwise returns nullptr, and the kernel must be asked.
const char* PathInName(const char* link_name);

// Returns the path of the file that is mapped at `address`, in `buffer`; "" if there is none.
const char* PathOfMapping(std::uint64_t address, PathBuffer& buffer);

}  // namespace leakgate::agent
