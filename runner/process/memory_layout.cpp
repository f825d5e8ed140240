#include "runner/process/memory_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// Removes the front of `text` up to and including `separator`, and returns it without that.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::optional<std::uint64_t> Number(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Parses a line such as "7f00-7f80 rw-p 00001000 fe:01 1234    /usr/lib/libc.so.6".
std::optional<MappedRange> ParseLine(std::string_view line) {
  const auto begin = Number(TakeUntil(line, '-'), 16);
  const auto end = Number(TakeUntil(line, ' '), 16);
  const std::string_view access = TakeUntil(line, ' ');
  const auto offset = Number(TakeUntil(line, ' '), 16);
  TakeUntil(line, ' ');  // the device
  const auto inode = Number(TakeUntil(line, ' '), 10);
  if (!begin || !end || *begin >= *end || access.size() != 4 || !offset || !inode) {
    return std::nullopt;
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return MappedRange{.begin = *begin,
                     .end = *end,
                     .is_readable = access[0] == 'r',
                     .is_writable = access[1] == 'w',
                     .is_executable = access[2] == 'x',
                     .file_offset = *offset,
                     .inode = *inode,
                     .name = std::string(line)};
}

}  // namespace

std::vector<MappedRange> ParseMaps(std::string_view text) {
  std::vector<MappedRange> ranges;
  while (!text.empty()) {
    std::optional<MappedRange> range = ParseLine(TakeUntil(text, '\n'));
    if (range) ranges.push_back(*std::move(range));
  }
  return ranges;
}

Expected<std::vector<MappedRange>> ReadMaps(int pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/maps", pid));
  std::vector<MappedRange> ranges = ParseMaps(text.value_or(""));
  if (ranges.empty()) {
    return InconclusiveError(fmt::format("cannot read /proc/{}/maps: the process has gone", pid));
  }
  return ranges;
}

bool HasNoMemory(int pid) {
  const auto text = ReadProcFile(fmt::format("/proc/{}/maps", pid));
  if (text) return text->empty();
  return text.error() == std::errc::no_such_process ||
         text.error() == std::errc::no_such_file_or_directory;
}

const MappedRange* FindRange(const std::vector<MappedRange>& ranges, std::uint64_t address) {
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](std::uint64_t wanted, const MappedRange& range) { return wanted < range.begin; });
  if (after == ranges.begin()) return nullptr;
  const MappedRange& range = *(after - 1);
  return range.Has(address) ? &range : nullptr;
}

}  // namespace leakgate
