// Tests that leak nothing, though they allocate: none of them may fail, whatever GoogleTest,
// gmock and the standard library keep for themselves.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lose.h"

namespace {

TEST(Passes, Nothing) {}

TEST(Passes, FreeingAll) {
  std::map<std::string, std::vector<int>> map;
  for (int i = 0; i < 100; ++i) map[std::string(40, 'x') + std::to_string(i)].resize(50);
  void* const block = std::malloc(100);
  Lose(block);
  std::free(block);
  std::thread([] { delete[] new char[64]; }).join();
  EXPECT_EQ(map.size(), 100U);
}

TEST(Passes, Catching) {
  try {
    throw std::runtime_error(std::string(100, 'x'));
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).size(), 100U);
  }
}

const std::vector<std::string>& Names() {
  static const auto* const names = new std::vector<std::string>(10, std::string(50, 'x'));
  return *names;
}

TEST(Passes, FillingAFunctionStatic) { EXPECT_EQ(Names().size(), 10U); }

TEST(Passes, RecordingItsResults) {
  RecordProperty("key", "value");
  SCOPED_TRACE("a trace");
  EXPECT_NONFATAL_FAILURE(ADD_FAILURE() << "expected", "expected");
  SUCCEED() << "a text";
}

TEST(Passes, Skipped) { GTEST_SKIP() << "not here"; }

class Turtle {
 public:
  virtual ~Turtle() = default;
  virtual int Walk(const std::string& where) = 0;
};

class MockTurtle : public Turtle {
 public:
  MOCK_METHOD(int, Walk, (const std::string&), (override));
};

TEST(Passes, Mocking) {
  ::testing::NiceMock<MockTurtle> turtle;
  EXPECT_CALL(turtle, Walk(::testing::HasSubstr("pond")))
      .WillOnce(::testing::Return(1))
      .WillRepeatedly([](const std::string& where) { return static_cast<int>(where.size()); });
  EXPECT_EQ(turtle.Walk("the pond"), 1);
  EXPECT_EQ(turtle.Walk("the pond"), 8);
}

TEST(PassesDeathTest, Dying) {
  for (const char* const style : {"fast", "threadsafe"}) {
    ::testing::GTEST_FLAG(death_test_style) = style;
    EXPECT_EXIT(
        {
          Lose(std::malloc(70));
          std::exit(5);
        },
        ::testing::ExitedWithCode(5), "");
  }
}

}  // namespace
