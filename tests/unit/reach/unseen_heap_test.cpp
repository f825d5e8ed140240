#include "runner/reach/unseen_heap.h"

#include <gmock/gmock.h>

#include <map>

#include "runner/reach/glibc_chunk.h"
#include "runner/reach/reach.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kBegin = 0x5555'0000'0000;
constexpr std::uint64_t kInUse = 1;  // of a chunk's size word: the chunk in front is in use

// A heap of glibc's, chunk by chunk.
class Heap {
 public:
  // Adds a chunk, and returns the address of its header.
  std::uint64_t Add(std::uint64_t bytes) {
    const std::uint64_t chunk = end_;
    words_[chunk + 8] = bytes | kInUse;
    end_ += bytes;
    return chunk;
  }
  std::uint64_t AddKnown(std::uint64_t bytes) {
    const std::uint64_t chunk = Add(bytes);
    blocks_.push_back({.address = chunk + 16, .size_bytes = bytes - 8});
    return chunk;
  }
  // The last chunk is free: the next one says so, and has its size.
  std::uint64_t AddFree(std::uint64_t bytes, std::uint64_t next_bytes) {
    const std::uint64_t chunk = Add(bytes);
    const std::uint64_t next = AddKnown(next_bytes);
    words_[next] = bytes;
    words_[next + 8] &= ~kInUse;
    return chunk;
  }
  void AddTop(std::uint64_t bytes) { allocator_words_.push_back(Add(bytes)); }
  void Skip(std::uint64_t bytes) { end_ += bytes; }
  void Store(std::uint64_t address, std::uint64_t word) { words_[address] = word; }
  void AddAllocatorWord(std::uint64_t word) { allocator_words_.push_back(word); }
  std::uint64_t end() const { return end_; }

  UnseenHeap FindUnseen() const {
    const std::vector<GlibcHeap> heaps = {{kBegin, end_, true}};
    return FindUnseenHeap({heaps, blocks_, allocator_words_, [this](std::uint64_t address) {
                             const auto found = words_.find(address);
                             return found == words_.end() ? 0 : found->second;
                           }});
  }
  std::vector<std::uint64_t> UnseenChunks() const {
    std::vector<std::uint64_t> chunks;
    for (const LiveBlock& block : FindUnseen().chunks) chunks.push_back(block.address - 16);
    return chunks;
  }

 private:
  std::uint64_t end_ = kBegin;
  std::map<std::uint64_t, std::uint64_t> words_;
  std::vector<LiveBlock> blocks_;
  std::vector<std::uint64_t> allocator_words_;
};

TEST(UnseenHeapTest, FindsChunksInUseBetweenKnownBlocks) {
  Heap heap;
  const std::uint64_t first = heap.Add(0x290);
  heap.AddKnown(48);
  const std::uint64_t second = heap.Add(64);
  const std::uint64_t third = heap.Add(32);
  heap.AddKnown(48);
  heap.AddFree(96, 32);
  heap.AddTop(0x1000);

  EXPECT_THAT(heap.UnseenChunks(), ElementsAre(first, second, third));
  EXPECT_THAT(heap.FindUnseen().ranges, IsEmpty());
  EXPECT_EQ(heap.FindUnseen().chunks[1].size_bytes, 56U);
  EXPECT_EQ(heap.FindUnseen().chunks[1].stack, kUnseenStack);
}

TEST(UnseenHeapTest, LeavesOutCachedChunks) {
  constexpr std::uint64_t kMark = 0x9E37'79B9'7F4A'7C15;
  Heap heap;
  heap.AddKnown(48);
  heap.Store(heap.Add(64) + 24, kMark);
  const std::uint64_t other = heap.Add(64);
  heap.Store(other + 24, kMark + 1);
  heap.AddKnown(48);
  heap.AddTop(0x1000);
  heap.AddAllocatorWord(kMark);

  EXPECT_THAT(heap.UnseenChunks(), ElementsAre(other));
}

TEST(UnseenHeapTest, LeavesOutChunksOfAFastList) {
  Heap heap;
  heap.AddKnown(48);
  const std::uint64_t last = heap.Add(64);
  const std::uint64_t in_use = heap.Add(64);
  const std::uint64_t first = heap.Add(64);
  heap.AddKnown(48);
  heap.AddTop(0x1000);
  heap.AddAllocatorWord(first);
  heap.Store(first + 16, last ^ (first + 16) >> 12);

  EXPECT_THAT(heap.UnseenChunks(), ElementsAre(in_use));
}

TEST(UnseenHeapTest, FindsWhatWasGotBySbrkBehindTheTop) {
  Heap heap;
  heap.AddKnown(48);
  heap.AddTop(0x500);
  const std::uint64_t begin = heap.end();
  heap.Store(begin + 8, 0x1234'5678);
  heap.Skip(0x1000);

  EXPECT_THAT(heap.FindUnseen().ranges, ElementsAre(SbrkRange{begin, begin + 0x1000}));
}

TEST(UnseenHeapTest, FindsWhatWasGotBySbrkBetweenTwoPartsOfTheHeap) {
  Heap heap;
  heap.AddKnown(48);
  heap.AddFree(0x80, 32);
  heap.Add(16);  // two fenceposts
  heap.Add(16);
  const std::uint64_t begin = heap.end();
  heap.Store(begin + 8, 0x77);
  heap.Skip(0x1000);
  heap.AddKnown(64);
  heap.AddTop(0x500);

  EXPECT_THAT(heap.FindUnseen().ranges, ElementsAre(SbrkRange{begin, begin + 0x1000}));
  EXPECT_THAT(heap.UnseenChunks(), IsEmpty());
}

TEST(UnseenHeapTest, FindsWhatWasGotBySbrkInFrontOfTheHeap) {
  Heap heap;
  heap.Skip(0x1000);
  heap.AddKnown(64);
  heap.AddTop(0x500);

  EXPECT_THAT(heap.FindUnseen().ranges, ElementsAre(SbrkRange{kBegin, kBegin + 0x1000}));
}

TEST(UnseenHeapTest, LeavesOutAHeapThatIsNotGlibcs) {
  Heap heap;
  heap.AddKnown(48);
  heap.Add(64);
  heap.Store(heap.AddKnown(48) + 8, 0x1234'5678'9ABC);
  heap.AddTop(0x500);

  EXPECT_THAT(heap.UnseenChunks(), IsEmpty());
}

TEST(GlibcChunkTest, HasNoGapsAroundWhereBlocksFollowEachOther) {
  const auto block = [](std::uint64_t address, std::uint64_t size) {
    return LiveBlock{.address = address, .size_bytes = size};
  };
  const LiveBlock before = block(0x1010, 24);
  const LiveBlock middle = block(0x1030, 40);
  EXPECT_TRUE(HasNoGapsAround(before, middle, block(0x1060, 8)));
  EXPECT_FALSE(HasNoGapsAround(before, middle, block(0x1070, 8)));
  EXPECT_FALSE(HasNoGapsAround(block(0x1000, 24), middle, block(0x1060, 8)));
}

}  // namespace
}  // namespace leakgate
