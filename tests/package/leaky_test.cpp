// One test that leaks among others that do not, for tests/package/try, which knows the lines by
// their comments.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

// The compiler must not remove the allocations.
static int* volatile made = nullptr;

TEST(Leaky, LosesOne) {
  made = new int(7);  // lost in a test
  EXPECT_EQ(7, *made);
  made = nullptr;
}

TEST(Leaky, LosesOneInAThread) {
  std::thread([] {
    made = new int(8);  // lost in a thread
    made = nullptr;
  }).join();
}

TEST(Leaky, RetainsMoreEachTime) {
  static std::vector<std::string> retained;
  retained.reserve(1000);
  retained.push_back(std::string(1000, 'x'));  // grows
}

TEST(Leaky, FreesAll) {
  const std::vector<std::string> texts(100, std::string(100, 'x'));
  EXPECT_EQ(100U, texts.size());
}
