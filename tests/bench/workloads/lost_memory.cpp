// Tests that lose 1.4 GiB together: each a list of blocks of mixed sizes, all
// written to, and as many blocks that nothing leads to.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "timing.h"

namespace {

constexpr int kTests = 77;
constexpr std::size_t kBytesOfATest = std::size_t{14} * 1024 * 1024 * 1024 / 10 / kTests;
constexpr std::array<std::size_t, 6> kSizes = {24, 100, 700, 4000, 20'000, 90'000};

struct Node {
  Node* next;
};

Node* MakeNode(std::size_t size, Node* next) {
  auto* const node = static_cast<Node*>(std::malloc(size));
  std::memset(static_cast<void*>(node), 0x5a, size);
  node->next = next;
  bench::Use(node);
  return node;
}

class Losing : public ::testing::TestWithParam<int> {};

TEST_P(Losing, Test) {
  Node* list = nullptr;
  std::size_t lost_bytes = 0;
  for (std::size_t number = 0; lost_bytes < kBytesOfATest; ++number) {
    const std::size_t size = kSizes[number % kSizes.size()];
    if (number / kSizes.size() % 2 == 0) {
      list = MakeNode(size, list);
    } else {
      MakeNode(size, nullptr);
    }
    lost_bytes += size;
  }
}

INSTANTIATE_TEST_SUITE_P(Many, Losing, ::testing::Range(0, kTests));

}  // namespace
