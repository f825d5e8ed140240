// A program that falsifies a stack of its own in leakgate's region, and then
// allocates where it did before: what is told is wrong, and a check must see it.
//
// corrupts_stacks frame|end
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/region_layout.h"

namespace {

using leakgate::RegionHeader;
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

// Where this process has mapped the region's tables, or nullptr.
char* FindRegion() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long begin = 0;
  while (maps != nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long offset = 0;
    if (std::strstr(line, "memfd:leakgate") == nullptr) continue;
    if (std::sscanf(line, "%lx-%*x %*s %lx", &begin, &offset) == 2 && offset == 0) break;
  }
  if (maps != nullptr) std::fclose(maps);
  return reinterpret_cast<char*>(begin);
}

void Corrupt(StackNode& node, const char* how) {
  if (std::strcmp(how, "frame") == 0) node.pc += 1;
  if (std::strcmp(how, "end") == 0) node.parent = 0;
}

bool CorruptCallersNode(const char* how) {
  char* const region = FindRegion();
  if (region == nullptr) return false;
  const auto& header = *reinterpret_cast<const RegionHeader*>(region);
  auto* const nodes = reinterpret_cast<StackNode*>(region + leakgate::region_offset::kStacks);
  for (std::uint32_t node = leakgate::kStackRootCount; node < header.stack_node_count; ++node) {
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
