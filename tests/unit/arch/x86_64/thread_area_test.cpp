// Where a thread's own memory is, and how the stack of one that has ended is known.
#include "runner/arch/thread_area.h"

#include <gtest/gtest.h>

#include <map>

namespace leakgate {
namespace {

TEST(ThreadAreaTest, HasThreadLocalsBelowAndTheDescriptorAboveTheThreadPointer) {
  const ThreadArea area = ThreadAreaAt(0x7F00'0000'0740, 0x104);
  EXPECT_EQ(area.begin, 0x7F00'0000'0638U);
  EXPECT_EQ(area.end, 0x7F00'0000'0740U + kMostDescriptorBytes);
}

TEST(ThreadAreaTest, HasTheProgramsThreadLocalsRightBelowTheThreadPointer) {
  EXPECT_EQ(ProgramLocalsAt(0x1000, 12, 8), 0x1000U - 16);
}

TEST(KeptStackTest, HasADescriptorThatPointsAtItselfTwice) {
  std::vector<std::uint64_t> words(32);
  words[8] = words[10] = 0x10'0040;
  EXPECT_EQ(FindDescriptors(0x10'0000, words), std::vector<std::uint64_t>{0x10'0040});
  words[10] = 0;
  EXPECT_TRUE(FindDescriptors(0x10'0000, words).empty());
}

TEST(KeptStackTest, HasTheRandomNumbersOfTheProcess) {
  std::map<std::uint64_t, std::uint64_t> memory = {
      {0x1028, 11}, {0x1030, 12}, {0x9028, 11}, {0x9030, 12}};
  const auto read = [&](std::uint64_t at) -> std::optional<std::uint64_t> {
    const auto word = memory.find(at);
    return word == memory.end() ? std::nullopt : std::optional(word->second);
  };
  const std::vector<std::uint64_t> threads = {0x9000};
  const StackPlace place{.guard = 0, .begin = 0x800, .end = 0x1400};
  EXPECT_EQ(EndOfKeptStack(0x1000, place, threads, read), 0x1400U);
  memory[0x1030] = 13;
  EXPECT_EQ(EndOfKeptStack(0x1000, place, threads, read), std::nullopt);
}

}  // namespace
}  // namespace leakgate
