// Any events as Windows' heap trace of a process: each with a header of 8 bytes, which says its
// kind, its time and thread and how long its payload is. What is left is in order, and has stacks
// where it says so.
#include <algorithm>
#include <cstdint>
#include <span>

#include "runner/etw/heap_trace.h"

namespace {

constexpr std::uint32_t kProcess = 1;

leakgate::EventProvider ProviderOf(std::uint8_t kind) {
  if (kind % 8 == 0) return leakgate::kLossProvider;
  return kind % 8 < 4 ? leakgate::kStackProvider : leakgate::kHeapProvider;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace leakgate;
  HeapTrace trace(kProcess);
  std::span<const std::uint8_t> rest(bytes, size);
  while (rest.size() >= 8) {
    const std::size_t payload = std::min<std::size_t>(rest[7], rest.size() - 8);
    trace.Add({.provider = ProviderOf(rest[0]),
               .opcode = rest[1],
               .pointer_bytes = rest[2],
               .process = rest[3],
               .thread = rest[4],
               .time = rest[5] + 256U * rest[6],
               .payload = std::as_bytes(rest.subspan(8, payload))});
    rest = rest.subspan(8 + payload);
  }
  trace.Finish();
  std::uint64_t last = 0;
  for (const TracedBlock& block : trace.LiveBlocks()) {
    if (block.address <= last) __builtin_trap();
    last = block.address;
    if (block.stack && trace.Frames(*block.stack).empty()) __builtin_trap();
  }
  (void)DescribeLosses(trace.losses());
  return 0;
}
