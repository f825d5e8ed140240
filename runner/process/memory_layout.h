// The mapped ranges of a process's memory, from /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct MappedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  std::uint64_t file_offset = 0;
  std::uint64_t inode = 0;  // 0: the range maps no file
  std::string name;         // the file's path, a name such as "[stack]", or empty

  bool IsAnonymous() const { return inode == 0; }
  bool Has(std::uint64_t address) const { return address >= begin && address < end; }

  friend bool operator==(const MappedRange&, const MappedRange&) = default;
};

// Parses the text of a maps file, which the kernel sorts by address. Skips malformed lines.
[[nodiscard]] std::vector<MappedRange> ParseMaps(std::string_view text);

// Returns the ranges sorted by address. Fails if the process has ended.
[[nodiscard]] Expected<std::vector<MappedRange>> ReadMaps(int pid);

// True if the process has ended or is just ending, since a process loses its memory before it ends.
// False if this process may not read the maps.
[[nodiscard]] bool HasNoMemory(int pid);

// Returns the range that contains `address`, or nullptr. REQUIRES: `ranges` are sorted by address.
[[nodiscard]] const MappedRange* FindRange(const std::vector<MappedRange>& ranges,
                                           std::uint64_t address);

}  // namespace leakgate
