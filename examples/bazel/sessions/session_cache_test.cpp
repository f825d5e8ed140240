#include <gtest/gtest.h>

#include <map>
#include <string>

// Lives as long as the program, on purpose, and forgets no session.
std::map<int, int>& Sessions() {
  static auto* const sessions = new std::map<int, int>;
  return *sessions;
}

int Open() {
  const int number = static_cast<int>(Sessions().size());
  Sessions()[number] = 1;
  return number;
}

TEST(SessionCache, KeepsWhatWasOpened) { EXPECT_EQ(1, Sessions()[Open()]); }

TEST(SessionCache, IsSharedByAllCallers) { EXPECT_EQ(&Sessions(), &Sessions()); }
