#include <gtest/gtest.h>

#include <map>
#include <string>

// Lives as long as the program, on purpose.
std::map<std::string, int>& Sessions() {
  static auto* const sessions = new std::map<std::string, int>;
  return *sessions;
}

TEST(SessionCache, KeepsWhatWasOpened) {
  Sessions()["example.org"] = 1;
  EXPECT_EQ(1, Sessions()["example.org"]);
}

TEST(SessionCache, IsSharedByAllCallers) { EXPECT_EQ(&Sessions(), &Sessions()); }
