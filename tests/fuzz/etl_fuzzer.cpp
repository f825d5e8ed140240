// Any bytes as an .etl file. What is read of it adds up.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runner/etw/file/etl_heaps.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace leakgate;
  const auto read = [&](std::byte* to, std::size_t wanted, std::uint64_t offset) -> std::size_t {
    if (offset >= size) return 0;
    const std::size_t count = std::min<std::size_t>(wanted, size - offset);
    std::memcpy(to, bytes + offset, count);
    return count;
  };
  const Expected<EtlHeaps> heaps = ReadEtlHeaps(read, size % 2 == 0 ? 0 : 77);
  if (!heaps) return 0;
  for (const EtlProcess& process : heaps->processes) {
    std::uint64_t blocks = 0;
    for (const EtlStackGroup& group : process.groups) blocks += group.blocks;
    if (!process.groups.empty() && blocks != process.blocks) __builtin_trap();
    (void)IsWhole(process, heaps->gaps);
  }
  (void)DescribeGaps(heaps->gaps);
  return 0;
}
