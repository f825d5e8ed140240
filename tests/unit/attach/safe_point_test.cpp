// Where a thread may be made to call the allocator and the dynamic linker, told from
// stacks that are written down.
#include "runner/attach/linux/safe_point.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::Optional;

PlacedFrame Program() {
  return {.owner = FrameOwner::kProgram, .names = {}, .is_interrupted = false};
}
PlacedFrame Library(std::vector<std::string_view> names = {}) {
  return {.owner = FrameOwner::kCLibrary, .names = std::move(names), .is_interrupted = false};
}
PlacedFrame Of(FrameOwner owner) { return {.owner = owner, .names = {}, .is_interrupted = false}; }
PlacedFrame Interrupted(PlacedFrame frame) {
  frame.is_interrupted = true;
  return frame;
}

// The outermost frames of the first thread, and of any other.
std::vector<PlacedFrame> OnFirst(std::vector<PlacedFrame> inner) {
  inner.front().is_interrupted = true;
  inner.insert(inner.end(), {Library(), Library({"__libc_start_main"}), Program()});
  return inner;
}
std::vector<PlacedFrame> OnOther(std::vector<PlacedFrame> inner) {
  inner.front().is_interrupted = true;
  inner.insert(inner.end(), {Library(), Library()});
  return inner;
}

TEST(SafePointTest, WhereAThreadWaitsInASystemCall) {
  EXPECT_EQ(WhyUnsafe(OnFirst({Library({"epoll_wait"}), Program()}), ThreadRunState::kWaits),
            std::nullopt);
  // Of the C library's own frames, the outermost says what it is.
  EXPECT_EQ(WhyUnsafe(OnOther({Library(), Library({"pthread_cond_wait"}), Program()}),
                      ThreadRunState::kWaits),
            std::nullopt);
}

TEST(SafePointTest, WhereTheProgramsOwnCodeRuns) {
  EXPECT_EQ(WhyUnsafe(OnFirst({Program(), Program()}), ThreadRunState::kRuns), std::nullopt);
  EXPECT_EQ(WhyUnsafe(OnOther({Program(), Library({"qsort"}), Program()}), ThreadRunState::kRuns),
            std::nullopt);
}

TEST(SafePointTest, NotWhereTheCLibraryRuns) {
  EXPECT_THAT(WhyUnsafe(OnFirst({Library({"memcpy"}), Program()}), ThreadRunState::kRuns),
              Optional(std::string("memcpy")));
}

TEST(SafePointTest, NotWithinTheAllocator) {
  EXPECT_THAT(
      WhyUnsafe(OnFirst({Library(), Library({"malloc"}), Program()}), ThreadRunState::kWaits),
      Optional(std::string("malloc")));
  EXPECT_THAT(WhyUnsafe(OnFirst({Library(), Library({"free"}), Library({"fclose"}), Program()}),
                        ThreadRunState::kWaits),
              Optional(std::string("free")));
  EXPECT_TRUE(WhyUnsafe(OnFirst({Of(FrameOwner::kAllocator), Program()}), ThreadRunState::kRuns));
}

// memalign jumps to a function that has no name: it may be that, or anything.
TEST(SafePointTest, NotWhereTheCLibraryWasEnteredByAJump) {
  EXPECT_TRUE(WhyUnsafe(OnFirst({Library(), Program()}), ThreadRunState::kWaits));
}

TEST(SafePointTest, NotWithinTheDynamicLinker) {
  // In a constructor of what is being loaded.
  EXPECT_TRUE(WhyUnsafe(OnFirst({Library({"read"}), Program(), Of(FrameOwner::kDynamicLinker),
                                 Library({"dlopen"}), Program()}),
                        ThreadRunState::kWaits));
  EXPECT_TRUE(
      WhyUnsafe(OnFirst({Library({"pause"}), Program(), Library({"dl_iterate_phdr"}), Program()}),
                ThreadRunState::kWaits));
}

TEST(SafePointTest, NotWhereAProcessOrAThreadBeginsOrEnds) {
  EXPECT_TRUE(WhyUnsafe(OnFirst({Library({"read"}), Program(), Library({"exit"}), Program()}),
                        ThreadRunState::kWaits));
  EXPECT_TRUE(WhyUnsafe(OnFirst({Library({"fork"}), Program()}), ThreadRunState::kWaits));
  // A thread's own first frames, and nothing else.
  EXPECT_TRUE(WhyUnsafe(OnOther({Library()}), ThreadRunState::kWaits));
}

TEST(SafePointTest, NotWithinASignalsHandler) {
  EXPECT_TRUE(WhyUnsafe(OnFirst({Library({"read"}), Program(), Library(),
                                 Interrupted(Library({"malloc"})), Program()}),
                        ThreadRunState::kWaits));
  EXPECT_TRUE(WhyUnsafe(
      OnFirst({Library({"read"}), Program(), Library(), Interrupted(Program()), Program()}),
      ThreadRunState::kWaits));
}

TEST(SafePointTest, NotWhereTheStackIsNotKnown) {
  EXPECT_TRUE(WhyUnsafe({}, ThreadRunState::kRuns));
  EXPECT_TRUE(WhyUnsafe(OnFirst({Of(FrameOwner::kUnknown), Program()}), ThreadRunState::kRuns));
}

// Its frames may be anywhere on the way: a thread that it has started, a call that waits.
TEST(SafePointTest, NotInTheMiddleOfTheAgent) {
  EXPECT_TRUE(WhyUnsafe(OnFirst({Of(FrameOwner::kAgent), Program()}), ThreadRunState::kRuns));
  EXPECT_EQ(WhyUnsafe(OnFirst({Library({"write"}), Of(FrameOwner::kAgent), Program()}),
                      ThreadRunState::kWaits),
            std::nullopt);
}

}  // namespace
}  // namespace leakgate
