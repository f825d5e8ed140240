#include "runner/reach/linux/process_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "runner/base/page_size.h"

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
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

// A block of gigabytes has no copy of gigabytes.
TEST_F(ProcessMemoryTest, IsNotKeptOfWhatIsReadAsAWhole) {
  std::vector<std::uint64_t> block(std::size_t{1} << 18);  // 2 MiB
  std::iota(block.begin(), block.end(), 0);
  const auto first = reinterpret_cast<std::uint64_t>(block.data());
  const std::uint64_t end = first + block.size() * 8;
  ProcessMemory memory(::getpid());
  std::set<const std::uint64_t*> copies;
  for (std::uint64_t at = first; at < end;) {
    const ProcessMemory::Words words = memory.At(at, end);
    ASSERT_TRUE(std::equal(words.begin(), words.end(), &block[(at - first) / 8]));
    copies.insert(words.data());
    at += words.size_bytes();
    // As a word that follows is looked at, where it may belong to the one before.
    if (at < end) ASSERT_EQ(memory.At(at, at + 8).front(), (at - first) / 8);
  }

  EXPECT_LE(copies.size(), 4u);  // the first and the last piece are not of this block alone
  EXPECT_EQ(memory.At(first, first + 8).front(), 0u);
}

TEST_F(ProcessMemoryTest, IsNotKeptOfWhatIsReadByAddress) {
  std::vector<std::uint64_t> blocks(std::size_t{1} << 18);  // 2 MiB
  std::iota(blocks.begin(), blocks.end(), 0);
  ProcessMemory memory(::getpid());
  std::set<const std::uint64_t*> copies;
  for (std::size_t i = 0; i < blocks.size(); i += 1024) {
    const auto at = reinterpret_cast<std::uint64_t>(&blocks[i]);
    const ProcessMemory::Words words = memory.InOrder(at, at + 64);
    ASSERT_TRUE(std::equal(words.begin(), words.end(), &blocks[i]));
    copies.insert(words.data() - at / 8 % (MemoryPieces::kBytes / 8));
  }

  EXPECT_EQ(copies.size(), 1u);
}

// Pages of this very process: [written][never touched][written].
class LoadedMemoryTest : public ::testing::Test {
 protected:
  LoadedMemoryTest() : begin_(reinterpret_cast<std::uint64_t>(pages_)) {
    Word(0) = 1;
    Word(2 * PageBytes()) = 3;
    memory_.Load({{begin_, begin_ + bytes_}}, ProcessMemory::Wanted::kAllPages);
  }
  ~LoadedMemoryTest() override { ::munmap(pages_, bytes_); }

  std::uint64_t& Word(std::uint64_t at) const {
    return *reinterpret_cast<std::uint64_t*>(begin_ + at);
  }
  std::vector<std::uint64_t> FirstWordsIn(AddressRange range) const {
    std::vector<std::uint64_t> first;
    memory_.ForEachPart(
        range, [&](std::uint64_t, ProcessMemory::Words words) { first.push_back(words.front()); });
    return first;
  }

  const std::uint64_t bytes_ = 3 * PageBytes();
  void* const pages_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const std::uint64_t begin_;
  ProcessMemory memory_{::getpid()};
};

TEST_F(LoadedMemoryTest, IsNotReadAgain) {
  if (!memory_.PassesOverHoles()) GTEST_SKIP() << "the kernel is older than 6.7";
  Word(0) = 2;  // a stopped process would not do this
  EXPECT_THAT(FirstWordsIn({begin_, begin_ + bytes_}), ElementsAre(1, 3));
  std::uint64_t word = 0;
  ASSERT_EQ(memory_.Read({begin_, begin_ + 8}, &word), 8U);
  EXPECT_EQ(word, 1U);
}

TEST_F(LoadedMemoryTest, IsToldOnceWhereRangesOverlap) {
  memory_.Load({{begin_ + PageBytes(), begin_ + bytes_}, {begin_, begin_ + 64}},
               ProcessMemory::Wanted::kAllPages);
  EXPECT_THAT(FirstWordsIn({begin_, begin_ + bytes_}), ElementsAre(1, 3));
  EXPECT_THAT(FirstWordsIn({begin_ + 8, begin_ + PageBytes()}), ElementsAre(0));
}

TEST_F(LoadedMemoryTest, IsReadAfterAllWhereItCouldNotBeLoadedBefore) {
  Word(0) = 7;
  ProcessMemory other(::getpid());
  ASSERT_EQ(::mprotect(pages_, PageBytes(), PROT_NONE), 0);
  other.Load({{begin_, begin_ + bytes_}}, ProcessMemory::Wanted::kAllPages);
  std::vector<std::uint64_t> first;
  other.ForEachPart({begin_, begin_ + bytes_}, [&](std::uint64_t, ProcessMemory::Words words) {
    first.push_back(words.front());
  });
  ASSERT_EQ(::mprotect(pages_, PageBytes(), PROT_READ | PROT_WRITE), 0);
  EXPECT_THAT(first, ElementsAre(7, 3));
}

TEST_F(LoadedMemoryTest, IsOfAFileUntilItIsWritten) {
  if (!memory_.PassesOverHoles()) GTEST_SKIP() << "the kernel is older than 6.7";
  const int program = ::open("/proc/self/exe", O_RDONLY);
  void* const mapped =
      ::mmap(nullptr, PageBytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE, program, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const byte = static_cast<volatile char*>(mapped);
  (void)*byte;
  const auto begin = reinterpret_cast<std::uint64_t>(mapped);
  const AddressRange page{begin, begin + PageBytes()};
  EXPECT_THAT(memory_.PartsIn(page), ElementsAre(Field(&PresentPart::is_file, true)));
  *byte = 'x';
  EXPECT_THAT(memory_.PartsIn(page), ElementsAre(Field(&PresentPart::is_file, false)));
  ::munmap(mapped, PageBytes());
  ::close(program);
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
