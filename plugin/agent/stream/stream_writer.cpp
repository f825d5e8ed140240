#include "plugin/agent/stream/stream_writer.h"

#include <atomic>
#include <cstdint>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/record/recorder.h"
#include "plugin/agent/stream/stack_search.h"
#include "plugin/agent/stream/stream_boundaries.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {
namespace {

constexpr int kClosed = -1;

// The descriptor follows the pointer to the virtual functions; in other versions of GoogleTest it
// may be a little farther.
constexpr std::uint64_t kMostFieldBytes = 32;
// The most that a program's own operator new puts in front of an object.
constexpr std::uint64_t kMostHeaderBytes = 64;
constexpr std::uint64_t kGranuleBytes = 1ULL << kGranuleShift;

// Published by CallOnSlowPath.
constinit int* g_descriptor = nullptr;

// A fork child has no live map, or one without its parent's blocks. There, any readable memory is
// examined.
std::uint64_t EndOfReadable(std::uint64_t address) {
  const std::uint64_t end = address + kMostFieldBytes;
  return IsReadable(address) && IsReadable(end - sizeof(std::uint64_t)) ? end : 0;
}

// Returns the end of the live block that contains `address`, or begins shortly before it; 0 if
// there is none.
std::uint64_t EndOfBlockAround(std::uint64_t address) {
  if (!IsTracing()) return EndOfReadable(address);
  std::uint64_t begin = address & ~(kGranuleBytes - 1);
  for (std::uint64_t back = 0; back <= kMostHeaderBytes; back += kGranuleBytes) {
    const LiveMap::Slot slot = LiveMap::Find(begin - back);
    if (slot == nullptr || !LiveMap::IsLiveAt(slot)) continue;
    return begin - back + LiveMap::Read(slot).size_bytes;
  }
  return IsForkChild() ? EndOfReadable(address) : 0;
}

// Returns the descriptor in the object at `address`, if that is the writer.
int* DescriptorIn(std::uint64_t address) {
  if (address % alignof(void*) != 0 || IsOnOwnStack(address)) return nullptr;
  std::uint64_t end = EndOfBlockAround(address);
  if (end > address + kMostFieldBytes) end = address + kMostFieldBytes;
  for (std::uint64_t at = address; at + sizeof(int) <= end; at += sizeof(int)) {
    int* const field = reinterpret_cast<int*>(at);
    if (*field == kStreamDescriptor) return field;
  }
  return nullptr;
}

// Any thread may be the first to call this, and the writer may not have forgotten the number yet.
CallAgain ReopenDescriptor() {
  const auto field = reinterpret_cast<std::uint64_t>(g_descriptor);
  if (field + sizeof(int) > EndOfBlockAround(field)) return CallAgain::kNo;
  int seen = kClosed;
  std::atomic_ref(*g_descriptor)
      .compare_exchange_strong(seen, kStreamDescriptor, std::memory_order_relaxed);
  return seen == kStreamDescriptor ? CallAgain::kYes : CallAgain::kNo;
}

}  // namespace

bool KeepStreamOpen() {
  int* found = nullptr;
  VisitStackWords([&found](std::uint64_t word) {
    if (found == nullptr) found = DescriptorIn(word);
  });
  if (found == nullptr) return false;
  g_descriptor = found;
  CallOnSlowPath(ReopenDescriptor);
  return true;
}

}  // namespace leakgate::agent
