// Tests that leave nothing, or what is made once and held.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

TEST(Clean, FreesAll) {
  const std::vector<std::string> texts(100, std::string(100, 'x'));
  EXPECT_EQ(100U, texts.size());
}

TEST(Clean, BuildsATableOnce) {
  static const std::vector<std::string> table(100, std::string(100, 'x'));
  EXPECT_EQ(100U, table.size());
}

TEST(Clean, JoinsThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { std::string text(1000, 'x'); });
  for (std::thread& thread : threads) thread.join();
}

TEST(Clean, Throws) {
  EXPECT_THROW(throw std::runtime_error(std::string(100, 'x')), std::runtime_error);
}
