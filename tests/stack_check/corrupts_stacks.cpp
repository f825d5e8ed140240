// A program that falsifies a stack of its own in leakgate's region, and then
// allocates where it did before: what is told is wrong, and a check must see it.
//
// corrupts_stacks frame|end
#include <cstdlib>
#include <cstring>

#include "tests/stack_check/own_region.h"

namespace {

using leakgate::StackNode;

constexpr int kAllocations = 10;

void* g_caller = nullptr;
void* volatile g_block = nullptr;

// Its return address, in AllocateSome, is what is falsified.
__attribute__((noinline)) void Allocate() {
  g_caller = __builtin_return_address(0);
  g_block = std::malloc(100);
  std::free(g_block);
}

__attribute__((noinline)) void AllocateSome() {
  for (int i = 0; i < kAllocations; ++i) Allocate();
}

void Corrupt(StackNode& node, const char* how) {
  if (std::strcmp(how, "frame") == 0) node.pc += 1;
  if (std::strcmp(how, "end") == 0) node.parent = 0;
}

bool CorruptCallersNode(const char* how) {
  char* const region = leakgate::check::OwnRegion();
  if (region == nullptr) return false;
  StackNode* const nodes = leakgate::check::OwnStacks(region);
  const std::uint32_t count = leakgate::check::OwnHeader(region).stack_node_count;
  for (std::uint32_t node = leakgate::kStackRootCount; node < count; ++node) {
    if (reinterpret_cast<void*>(nodes[node].pc) == g_caller) Corrupt(nodes[node], how);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  // Volatile, or the loop has two calls, and the second round is another stack.
  for (volatile int rounds_left = 2; rounds_left != 0;) {
    AllocateSome();
    if (rounds_left == 2 && !CorruptCallersNode(argv[1])) return 1;
    const int left = rounds_left - 1;
    rounds_left = left;
  }
  return 0;
}
