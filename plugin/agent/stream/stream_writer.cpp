#include "plugin/agent/stream/stream_writer.h"

#include <cstdint>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/linux/own_stack.h"
#include "plugin/agent/record/live_map.h"
#include "plugin/agent/stream/stream_boundaries.h"

namespace leakgate::agent {
namespace {

constexpr int kClosed = -1;

// The frames between the caller's and this one are not larger than this.
constexpr std::uint64_t kMostStackBytes = 1024;
// Behind the pointer to its virtual functions comes the descriptor; elsewhere than GoogleTest
// has had it so far, it may be a little farther on.
constexpr std::uint64_t kMostFieldBytes = 32;

struct Writer {
  std::uint64_t block;
  int* descriptor;
};
constinit Writer g_writer{};

// Returns the size of the block in bytes; 0 if no block begins at `address`.
std::uint64_t SizeOfBlockAt(std::uint64_t address) {
  const LiveMap::Slot slot = LiveMap::Find(address);
  return slot != nullptr && LiveMap::IsLiveAt(slot) ? LiveMap::Read(slot).size_bytes : 0;
}

// The descriptor in the block at `address`, if that is the writer.
int* DescriptorIn(std::uint64_t address) {
  const std::uint64_t size = SizeOfBlockAt(address);
  const std::uint64_t end = size < kMostFieldBytes ? size : kMostFieldBytes;
  for (std::uint64_t at = 0; at + sizeof(int) <= end; at += sizeof(int)) {
    int* const field = reinterpret_cast<int*>(address + at);
    if (*field == kStreamDescriptor) return field;
  }
  return nullptr;
}

}  // namespace

// This is not inline, so that its frame lies below that of its caller.
__attribute__((noinline)) void RememberStreamWriter() {
  if (!IsTracing()) return;
  __builtin_unwind_init();  // on the stack, too: what registers preserve over calls
  std::uint64_t word = 0;
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(&word);
  OwnStack stack = OwnStack::OfThisThread();
  for (std::uint64_t at = begin; at < begin + kMostStackBytes && stack.Contains(at + 7); at += 8) {
    word = *reinterpret_cast<const volatile std::uint64_t*>(at);
    int* const descriptor = DescriptorIn(word);
    if (descriptor != nullptr) {
      g_writer = {word, descriptor};
      return;
    }
  }
}

void ReopenStreamWriter() {
  if (g_writer.descriptor == nullptr || !IsTracing()) return;
  if (SizeOfBlockAt(g_writer.block) != 0 && *g_writer.descriptor == kClosed) {
    *g_writer.descriptor = kStreamDescriptor;
  }
  g_writer = {};
}

}  // namespace leakgate::agent
