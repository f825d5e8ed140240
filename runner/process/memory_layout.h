// What is mapped where in a process, as /proc/PID/maps tells it.
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
  std::uint64_t inode = 0;  // 0: no file
  std::string name;         // the file's path, "[stack]", or empty

  bool IsAnonymous() const { return inode == 0; }
  bool Has(std::uint64_t address) const { return address >= begin && address < end; }

  friend bool operator==(const MappedRange&, const MappedRange&) = default;
};

// By address. What is no line of a map is left out. Pure.
[[nodiscard]] std::vector<MappedRange> ParseMaps(std::string_view text);

// Fails if the process has gone.
[[nodiscard]] Expected<std::vector<MappedRange>> ReadMaps(int pid);

// It has ended, or is just ending: its memory goes before it does. False where that is not
// ours to see.
[[nodiscard]] bool HasNoMemory(int pid);

// The range that has `address`, or nullptr. `ranges` by address.
[[nodiscard]] const MappedRange* FindRange(const std::vector<MappedRange>& ranges,
                                           std::uint64_t address);

}  // namespace leakgate
