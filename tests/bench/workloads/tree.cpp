// A call tree whose every node allocates: no two allocations have the same
// stack, so nothing that was remembered of whole stacks helps.
//
// tree LEVELS
#include "timing.h"

namespace {

struct Node {
  Node* children[3];
};

// Three call sites, so that the way to a node is a stack of its own.
[[gnu::noinline]] Node* Grow(std::uint64_t levels) {
  auto* const node = static_cast<Node*>(std::malloc(sizeof(Node)));
  bench::Use(node);
  if (levels == 1) {
    *node = {};
    return node;
  }
  node->children[0] = Grow(levels - 1);
  asm volatile("" ::: "memory");
  node->children[1] = Grow(levels - 1);
  asm volatile("" ::: "memory");
  node->children[2] = Grow(levels - 1);
  asm volatile("" ::: "memory");
  return node;
}

std::uint64_t Free(Node* node) {
  if (node == nullptr) return 0;
  std::uint64_t count = 1;
  for (Node* child : node->children) count += Free(child);
  std::free(node);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t levels = bench::Argument(argc, argv, 1);
  const auto begin = bench::Clock::now();
  Node* const root = Grow(levels);
  const std::uint64_t count = Free(root);
  bench::Print("ns_per_op", bench::PerOperation(bench::Clock::now() - begin, count));
}
