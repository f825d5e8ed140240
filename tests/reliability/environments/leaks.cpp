// Tests that leak, one in each way. ../matrix knows what is to be said of each. Plain C++14,
// so that every GoogleTest from 1.10 on takes it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "library.h"
#include "lose.h"

namespace {

struct Payload {
  char bytes[48];
};

TEST(Leak, ByNew) {
  Lose(new Payload());  // LEAK: new
}

TEST(Leak, ByNewOfAnArray) {
  Lose(new Payload[2]);  // LEAK: array
}

TEST(Leak, ByMalloc) {
  Lose(std::malloc(100));  // LEAK: malloc
}

__attribute__((noinline)) void LeakInThread() {
  Lose(std::malloc(101));  // LEAK: thread
}

TEST(Leak, InAThread) {
  std::thread thread(LeakInThread);
  thread.join();
}

TEST(Leak, ThroughALibrary) { LeakInLibrary(); }

__attribute__((noinline)) void LeakAndThrow() {
  Lose(std::malloc(104));  // LEAK: throw
  throw std::runtime_error("caught by the test");
}

TEST(Leak, PastAnException) { EXPECT_THROW(LeakAndThrow(), std::runtime_error); }

class Fixture : public ::testing::Test {
 protected:
  void SetUp() override {
    held_ = std::malloc(105);  // LEAK: fixture
  }
  void* held_ = nullptr;
};

TEST_F(Fixture, Leaks) { EXPECT_NE(held_, nullptr); }

TEST(Leak, AString) {
  Lose(new std::string(200, 'x'));  // LEAK: string
}

TEST(Leak, AVector) {
  Lose(new std::vector<int>(50));  // LEAK: vector
}

TEST(Leak, AMap) {
  auto* const map = new std::map<int, int>;  // LEAK: map
  (*map)[1] = 2;                             // LEAK: node
  Lose(map);
}

struct Link {
  std::shared_ptr<Link> next;
  char bytes[40];
};

TEST(Leak, ACycle) {
  const std::shared_ptr<Link> link = std::make_shared<Link>();  // LEAK: cycle
  link->next = link;
}

TEST(Leak, AFunction) {
  const Payload payload{};
  Lose(new std::function<char()>([payload] { return payload.bytes[0]; }));  // LEAK: function
}

class OfSize : public ::testing::TestWithParam<int> {};

TEST_P(OfSize, Leaks) {
  Lose(std::malloc(static_cast<std::size_t>(GetParam())));  // LEAK: parameter
}

INSTANTIATE_TEST_SUITE_P(Sizes, OfSize, ::testing::Values(11, 22));

template <typename T>
class OfType : public ::testing::Test {};
using Types = ::testing::Types<char, double>;
TYPED_TEST_SUITE(OfType, Types);

TYPED_TEST(OfType, Leaks) {
  Lose(new TypeParam);  // LEAK: typed
}

}  // namespace
