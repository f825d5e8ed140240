// Which pages of mappings are in memory, as the kernel tells this very process's.
#include "runner/snapshot/file/resident_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

namespace leakgate {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMiB = 1U << 20;

// A mapping of this process, alone between pages without access.
class Mapped {
 public:
  explicit Mapped(std::uint64_t bytes, int protection = PROT_READ | PROT_WRITE) : bytes_(bytes) {
    around_ = static_cast<char*>(::mmap(nullptr, bytes + 2 * kPage, PROT_NONE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (around_ == MAP_FAILED) throw std::runtime_error("cannot map");
    ::mprotect(begin(), bytes, protection);
    ::madvise(begin(), bytes, MADV_NOHUGEPAGE);
  }
  ~Mapped() { ::munmap(around_, bytes_ + 2 * kPage); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  char* begin() const { return around_ + kPage; }
  void Touch(std::uint64_t from, std::uint64_t to) const {
    for (std::uint64_t at = from; at < to; at += kPage) begin()[at] = 1;
  }
  MappingCopy Copy() const {
    return {.address = reinterpret_cast<std::uint64_t>(begin()),
            .size_bytes = bytes_,
            .kind = AllocationKind::kMapped};
  }

 private:
  std::uint64_t bytes_;
  char* around_;
};

class ResidentPagesTest : public testing::TestWithParam<AskForPages> {
 protected:
  static ResidentPages Find(std::vector<MappingCopy> mappings) {
    return FindResidentPages(::getpid(), mappings, GetParam());
  }
  static std::uint64_t ResidentIn(const Mapped& mapped) {
    const ResidentPages pages = Find({mapped.Copy()});
    EXPECT_TRUE(pages.mappings.at(0).are_known) << pages.all.problem;
    EXPECT_EQ(pages.mappings.at(0).swapped_bytes, 0U);
    return pages.mappings.at(0).resident_bytes;
  }
};

INSTANTIATE_TEST_SUITE_P(Either, ResidentPagesTest,
                         testing::Values(AskForPages::kAsKernelCan, AskForPages::kOneByOne));

TEST_P(ResidentPagesTest, AreThoseThatWereTouched) {
  const Mapped mapped(6 * kMiB);
  EXPECT_EQ(ResidentIn(mapped), 0U);
  mapped.Touch(kMiB, 5 * kMiB);
  EXPECT_EQ(ResidentIn(mapped), 4 * kMiB);
}

TEST_P(ResidentPagesTest, AreNotThoseThatWereGivenBack) {
  const Mapped mapped(8 * kMiB);
  mapped.Touch(0, 8 * kMiB);
  ::madvise(mapped.begin() + 2 * kMiB, kMiB, MADV_DONTNEED);
  EXPECT_EQ(ResidentIn(mapped), 7 * kMiB);
}

// More than the kernel tells at once, and every other page.
TEST_P(ResidentPagesTest, AreCountedOneByOne) {
  const Mapped mapped(16 * kMiB);
  for (std::uint64_t at = 0; at < 16 * kMiB; at += 2 * kPage) mapped.begin()[at] = 1;
  EXPECT_EQ(ResidentIn(mapped), 8 * kMiB);
}

TEST_P(ResidentPagesTest, AreFoundInWhatIsLargeAndEmpty) {
  const Mapped mapped(64ULL << 30);
  mapped.Touch(0, kPage);
  mapped.Touch((64ULL << 30) - kPage, 64ULL << 30);
  EXPECT_EQ(ResidentIn(mapped), 2 * kPage);
}

// Another mapping may begin in the middle of what was mapped at once.
TEST_P(ResidentPagesTest, AreThoseOfEachPart) {
  const Mapped mapped(4 * kMiB);
  mapped.Touch(kMiB, 4 * kMiB);
  MappingCopy first = mapped.Copy();
  MappingCopy second = first;
  first.size_bytes = 2 * kMiB;
  second.address += 2 * kMiB;
  second.size_bytes = 2 * kMiB;
  const ResidentPages pages = Find({first, second});
  EXPECT_EQ(pages.mappings.at(0).resident_bytes, kMiB);
  EXPECT_EQ(pages.mappings.at(1).resident_bytes, 2 * kMiB);
}

// The stack of a thread that has not begun has no address yet.
TEST_P(ResidentPagesTest, AreNotKnownOfWhatHasNoAddress) {
  const Mapped mapped(kMiB);
  mapped.Touch(0, kMiB);
  const ResidentPages pages = Find({MappingCopy{.size_bytes = kMiB}, mapped.Copy()});
  EXPECT_FALSE(pages.mappings.at(0).are_known);
  EXPECT_TRUE(pages.mappings.at(1).are_known);
}

// A process that is not there: no number of pages, but a reason.
TEST_P(ResidentPagesTest, AreNotKnownOfAProcessThatHasGone) {
  const ResidentPages pages = FindResidentPages(0, {Mapped(kMiB).Copy()}, GetParam());
  EXPECT_FALSE(pages.mappings.at(0).are_known);
  EXPECT_NE(pages.all.problem, "");
  EXPECT_EQ(pages.all.source, PageSource::kNone);
}

TEST(LargeReservationsTest, AreNotReadPageByPage) {
  const Mapped mapped(512ULL << 30, PROT_NONE);
  const ResidentPages pages =
      FindResidentPages(::getpid(), {mapped.Copy()}, AskForPages::kOneByOne);
  EXPECT_FALSE(pages.mappings.at(0).are_known);
}

// It is either the whole mapping's, or that of several side by side.
TEST(LazilyFreedPagesTest, AreAssignedWhereThatIsSure) {
  const Mapped alone(16 * kMiB);
  alone.Touch(0, 16 * kMiB);
  ::madvise(alone.begin(), 16 * kMiB, MADV_FREE);
  const ResidentPages pages =
      FindResidentPages(::getpid(), {alone.Copy()}, AskForPages::kAsKernelCan);
  EXPECT_EQ(pages.mappings.at(0).resident_bytes, 16 * kMiB);
  EXPECT_GE(pages.mappings.at(0).lazily_freed_bytes, 8 * kMiB);
  EXPECT_LE(pages.mappings.at(0).lazily_freed_bytes, 16 * kMiB);
  EXPECT_EQ(pages.all.unassigned_lazily_freed_bytes, 0U);

  MappingCopy first = alone.Copy();
  MappingCopy second = first;
  first.size_bytes = second.size_bytes = 8 * kMiB;
  second.address += 8 * kMiB;
  const ResidentPages parts =
      FindResidentPages(::getpid(), {first, second}, AskForPages::kAsKernelCan);
  EXPECT_EQ(parts.mappings.at(0).lazily_freed_bytes, 0U);
  EXPECT_EQ(parts.mappings.at(1).lazily_freed_bytes, 0U);
  EXPECT_GE(parts.all.unassigned_lazily_freed_bytes, 8 * kMiB);
}

}  // namespace
}  // namespace leakgate
