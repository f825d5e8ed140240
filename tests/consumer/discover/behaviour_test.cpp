// What CTest is to show of tests that pass, skip, fail, leak, and combine these.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

static int* volatile made = nullptr;

static void Leak() {
  made = new int[12];
  made = nullptr;
}

TEST(Behaviour, Passes) {}
TEST(Behaviour, Leaks) { Leak(); }
TEST(Behaviour, Fails) { FAIL(); }
TEST(Behaviour, Skips) { GTEST_SKIP(); }
TEST(Behaviour, SkipsAndLeaks) {
  Leak();
  GTEST_SKIP();
}
TEST(Behaviour, ExitsAsIfSkipped) { std::exit(77); }
TEST(Behaviour, PrintsAsIfSkipped) { std::puts("[  SKIPPED ] not at all"); }

// Grows each time: over budget where it is confirmed, unconfirmed where it is not.
TEST(Behaviour, Retains) {
  static std::vector<std::unique_ptr<int>> kept;
  kept.push_back(std::make_unique<int>(1));
}

TEST(Budgeted, MayLeak) { Leak(); }

TEST(Surroundings, AreThoseThatWereAskedFor) {
  EXPECT_STREQ("one;two", std::getenv("DISCOVER_LIST"));
  EXPECT_STREQ("set", std::getenv("DISCOVER_MODIFIED"));
  EXPECT_TRUE(std::ifstream("here.txt").good());
}
