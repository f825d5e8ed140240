// The blocks of a window, found without reading all others (RegionReader::LiveBlocks), compared
// with a plain model while tests allocate and free.
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "plugin/agent/record/recorder.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using testing::ElementsAreArray;
using AddressAndBytes = std::pair<std::uint64_t, std::uint64_t>;

// One block at most begins in each 4 KiB of three chunks: at the end of these, so that it reaches
// into the next, or behind what may reach in from the last.
class WindowBlocksTest : public RecordingTest {
 protected:
  struct Block {
    std::uint64_t bytes;
    std::uint32_t window;
  };
  static constexpr std::uint64_t kFirst = 0x7'0000'0000;
  static constexpr std::uint64_t kSlotBytes = 4096;
  static constexpr std::uint64_t kSlots = 3 * (1ULL << kChunkShift) / kSlotBytes;

  ~WindowBlocksTest() override {
    for (const auto& [address, block] : model_) Free(address);
  }

  // Most blocks are near each other, as allocators place them.
  void Allocate(std::uint32_t window) {
    std::uint64_t slot = Random(8) == 0 ? Random(kSlots) : near_ + Random(16);
    if (Random(50) == 0) near_ = Random(kSlots - 16);
    if (Random(8) == 0) near_ = (near_ + Random(600)) % (kSlots - 16);  // the heap grows
    if (Random(10) == 0) slot |= (1ULL << kChunkShift) / kSlotBytes - 1;
    slot %= kSlots;
    const bool is_at_end = Random(4) == 0;
    const std::uint64_t address =
        kFirst + slot * kSlotBytes + (is_at_end ? kSlotBytes - 16 : 32 + 16 * Random(100));
    const auto next = model_.lower_bound(kFirst + slot * kSlotBytes);
    if (next != model_.end() && next->first < kFirst + (slot + 1) * kSlotBytes) return;
    const std::uint64_t bytes = is_at_end ? 24 + Random(24) : 24 + Random(2000);
    RecordingTest::Allocate(address, bytes);
    model_[address] = {bytes, window};
  }

  void FreeOne() {
    auto block = model_.lower_bound(kFirst + (near_ + Random(16)) * kSlotBytes);
    if (block == model_.end()) block = model_.begin();
    if (block == model_.end()) return;
    Free(block->first);
    model_.erase(block);
  }

  static void Free(std::uint64_t address) {
    agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }

  std::uint64_t Random(std::uint64_t below) { return random_() % below; }

  std::vector<AddressAndBytes> Expected(std::uint32_t window) const {
    std::vector<AddressAndBytes> blocks;
    for (const auto& [address, block] : model_) {
      if (block.window == window) blocks.emplace_back(address, block.bytes);
    }
    return blocks;
  }

  static std::vector<AddressAndBytes> Found(std::uint32_t window) {
    const std::vector<LiveBlock> found = Reader().LiveBlocks(window).value();
    std::vector<AddressAndBytes> blocks;
    for (const LiveBlock& block : found) blocks.emplace_back(block.address, block.size_bytes);
    return blocks;
  }

  std::mt19937_64 random_{20261127};
  std::map<std::uint64_t, Block> model_;
  std::uint64_t near_ = 0;
};

TEST_F(WindowBlocksTest, AreThoseOfAPlainModelWhateverOtherWindowsHave) {
  std::vector<std::uint32_t> windows;
  for (int i = 0; i < 150; ++i) {
    windows.push_back(OpenWindow());
    for (std::uint64_t left = Random(12); left > 0; --left) Allocate(windows.back());
    for (std::uint64_t left = Random(6); left > 0; --left) FreeOne();
    ASSERT_THAT(Found(windows.back()), ElementsAreArray(Expected(windows.back()))) << i;
    LeaveWindow(windows.back());
    const std::uint32_t earlier = windows[Random(windows.size())];
    ASSERT_THAT(Found(earlier), ElementsAreArray(Expected(earlier))) << i;
  }
}

}  // namespace
}  // namespace leakgate::test
