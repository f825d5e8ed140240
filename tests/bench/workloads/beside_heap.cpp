// Tests that lose a block each, beside a global fixture of LIVE_BLOCKS blocks, which is never torn
// down: what a look for lost blocks costs where much is live.
#include <gtest/gtest.h>

namespace {

struct Node {
  Node* next;
  char rest[40];
};
Node* fixture = nullptr;

class Heap : public testing::Environment {
 public:
  void SetUp() override {
    for (long i = 0; i < LIVE_BLOCKS; ++i) fixture = new Node{fixture, {}};
  }
};
testing::Environment* const heap = testing::AddGlobalTestEnvironment(new Heap);

class Beside : public testing::TestWithParam<int> {};

TEST_P(Beside, Loses) {
  int* volatile lost = new int(GetParam());
  EXPECT_EQ(*lost, GetParam());
  lost = nullptr;
}
INSTANTIATE_TEST_SUITE_P(Heap, Beside, testing::Range(0, 50));

}  // namespace
