// Where a thread's own memory is, and how the stack of one that has ended is known.
#include "runner/arch/thread_area.h"

#include <gtest/gtest.h>

#include <vector>

namespace leakgate {
namespace {

constexpr std::uint64_t kGuard = 0x7F00'0000'0000;
constexpr std::uint64_t kBegin = kGuard + 0x1000;
constexpr std::uint64_t kEnd = kBegin + 0x4000;

// The last words of a thread's stack, as glibc 2.36 leaves them.
struct KeptStack {
  static constexpr std::uint64_t kHead = 2;  // the word that points at itself
  static constexpr std::uint64_t kBlock = 150;
  std::uint64_t address = kEnd - 0x1000;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(0x1000 / 8);

  KeptStack() {
    words[kHead - 1] = words[kHead] = address + kHead * 8;
    words[kHead + 1] = static_cast<std::uint64_t>(-32);
    words[kBlock] = kGuard;
    words[kBlock + 1] = kEnd - kGuard;
    words[kBlock + 2] = kBegin - kGuard;
  }

  std::vector<std::uint64_t> Found() const { return FindDescriptors(address, words); }
  std::optional<std::uint64_t> End(std::uint64_t end_of_mapping = kEnd) const {
    const auto read = [this](std::uint64_t at) -> std::optional<std::uint64_t> {
      if (at < address || at >= address + words.size() * 8) return std::nullopt;
      return words[(at - address) / 8];
    };
    return EndOfKeptStack(address + kHead * 8, {kGuard, kBegin, end_of_mapping}, {}, read);
  }
};

TEST(ThreadAreaTest, HasTheDescriptorBelowAndThreadLocalsAboveTheThreadPointer) {
  const ThreadArea area = ThreadAreaAt(0x7F00'0000'0740, 0x100);
  EXPECT_LE(area.begin, 0x7F00'0000'0000U);
  EXPECT_EQ(area.end, 0x7F00'0000'0850U);
}

TEST(ThreadAreaTest, HasTheProgramsThreadLocalsBehindTheHead) {
  EXPECT_EQ(ProgramLocalsAt(0x1000, 8, 4), 0x1010U);
  EXPECT_EQ(ProgramLocalsAt(0x1000, 8, 64), 0x1040U);
}

TEST(KeptStackTest, EndsWhereItsDescriptorSays) {
  const KeptStack stack;
  ASSERT_EQ(stack.Found(), std::vector{stack.address + 16});
  EXPECT_EQ(stack.End(), kEnd);
  EXPECT_EQ(stack.End(kEnd + 0x10'0000), kEnd);  // something else follows in the same mapping
}

TEST(KeptStackTest, IsNotALiveThreads) {
  KeptStack stack;
  stack.words[0] = 4711;  // its number
  EXPECT_EQ(stack.End(), std::nullopt);
}

TEST(KeptStackTest, IsNotAStructureThatPointsAtItself) {
  KeptStack stack;
  stack.words[KeptStack::kHead + 1] = 0;
  EXPECT_TRUE(stack.Found().empty());
}

TEST(KeptStackTest, IsNotAnothersMapping) {
  KeptStack stack;
  stack.words[KeptStack::kBlock] = kGuard - 0x1000;
  EXPECT_EQ(stack.End(), std::nullopt);
  stack = KeptStack();
  stack.words[KeptStack::kBlock + 1] += 8;  // it would end behind the mapping
  EXPECT_EQ(stack.End(), std::nullopt);
}

}  // namespace
}  // namespace leakgate
