#include "runner/reach/linux/process_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Reads words of this very process.
std::vector<std::uint64_t> WordsIn(AddressRange range) {
  std::vector<std::uint64_t> all;
  ProcessMemory(::getpid()).ForEachPart(range, [&](std::uint64_t, ProcessMemory::Words words) {
    all.insert(all.end(), words.begin(), words.end());
  });
  return all;
}

class ProcessMemoryTest : public ::testing::Test {
 protected:
  const std::uint64_t words_[4] = {1, 2, 3, 4};
  const std::uint64_t begin_ = reinterpret_cast<std::uint64_t>(words_);
};

TEST_F(ProcessMemoryTest, IsReadInWords) {
  EXPECT_THAT(WordsIn({begin_, begin_ + 32}), ElementsAre(1, 2, 3, 4));
}

// In a sanitized build, a byte that is written behind the buffer would be reported.
TEST_F(ProcessMemoryTest, IsReadWhereARangeEndsInTheMiddleOfAWord) {
  EXPECT_THAT(WordsIn({begin_, begin_ + 28}), ElementsAre(1, 2, 3));
  EXPECT_THAT(WordsIn({begin_ + 1, begin_ + 32}), ElementsAre(2, 3, 4));
  EXPECT_THAT(WordsIn({begin_ + 1, begin_ + 15}), IsEmpty());
}

TEST(AddressRangesTest, NeighboursAndOverlapsAreJoined) {
  EXPECT_THAT(JoinRanges({{30, 40}, {10, 20}, {20, 25}, {35, 50}, {5, 5}}),
              ElementsAre(AddressRange{10, 25}, AddressRange{30, 50}));
}

TEST(AddressRangesTest, WhatIsLeftOfARangeIsInPieces) {
  const std::vector<AddressRange> excluded = {{0, 12}, {20, 30}, {90, 200}};
  EXPECT_THAT(SubtractRanges({10, 100}, excluded),
              ElementsAre(AddressRange{12, 20}, AddressRange{30, 90}));
  EXPECT_THAT(SubtractRanges({22, 28}, excluded), IsEmpty());
  EXPECT_THAT(SubtractRanges({40, 50}, excluded), ElementsAre(AddressRange{40, 50}));
}

}  // namespace
}  // namespace leakgate::test
