#include "runner/region/process_memory.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// Returns 0 if the kernel does not say.
std::uint64_t BytesOf(int pid, const char* field) {
  const std::string text = StatusField(pid, pid, field);  // "123 kB"
  std::uint64_t kibibytes = 0;
  const auto digit = text.find_first_of("0123456789");
  if (digit == std::string::npos) return 0;
  std::from_chars(text.data() + digit, text.data() + text.size(), kibibytes);
  return kibibytes << 10;
}

}  // namespace

std::uint64_t LeastBytesOfBlock() { return 32; }

std::optional<std::uint64_t> MappedBytes(int pid, std::uint64_t begin, std::uint64_t bytes) {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(pid);
  if (!maps || maps->empty()) return std::nullopt;
  std::uint64_t mapped = 0;
  for (const MappedRange& range : *maps) {
    const std::uint64_t from = std::max(range.begin, begin);
    const std::uint64_t to = std::min(range.end, begin + bytes);
    if (from < to) mapped += to - from;
  }
  return mapped;
}

std::uint64_t BytesOfMemory(int pid) {
  const std::uint64_t resident = BytesOf(pid, "VmRSS");
  return resident == 0 ? 0 : resident + BytesOf(pid, "VmSwap") + BytesOf(pid, "HugetlbPages");
}

}  // namespace leakgate
