// The memory of a process, as words: of this one.
#include "runner/reach/linux/process_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// Sanitized: a byte more than there is room for would be told.
TEST_F(ProcessMemoryTest, IsReadWhereARangeEndsInTheMiddleOfAWord) {
  EXPECT_THAT(WordsIn({begin_, begin_ + 28}), ElementsAre(1, 2, 3));
  EXPECT_THAT(WordsIn({begin_ + 1, begin_ + 32}), ElementsAre(2, 3, 4));
  EXPECT_THAT(WordsIn({begin_ + 1, begin_ + 15}), IsEmpty());
}

}  // namespace
}  // namespace leakgate::test
