// One thread allocates, another frees: no block is freed where it was made. They
// meet once every many blocks, so that little of the time is theirs.
//
// producer_consumer BUDGET_MS
#include <array>
#include <atomic>
#include <thread>

#include "timing.h"

namespace {

constexpr std::uint64_t kBlocks = 512;
using Crate = std::array<void*, kBlocks>;

// A ring of crates with one writer and one reader.
class Ring {
 public:
  // The crate to fill, and then to hand over.
  Crate& Empty() {
    const std::uint64_t at = filled_.load(std::memory_order_relaxed);
    for (std::uint64_t emptied = emptied_; at - emptied == kCrates; emptied = emptied_) {
      emptied_.wait(emptied);
    }
    return crates_[at % kCrates];
  }
  void HandOver() {
    ++filled_;
    filled_.notify_one();
  }

  // The crate to empty, and then to give back.
  Crate& Filled() {
    const std::uint64_t at = emptied_.load(std::memory_order_relaxed);
    filled_.wait(at);
    return crates_[at % kCrates];
  }
  void GiveBack() {
    ++emptied_;
    emptied_.notify_one();
  }

 private:
  static constexpr std::uint64_t kCrates = 16;

  alignas(64) std::atomic<std::uint64_t> filled_{0};
  alignas(64) std::atomic<std::uint64_t> emptied_{0};
  std::array<Crate, kCrates> crates_{};
};

Ring g_ring;

std::uint64_t Produce() {
  std::uint64_t size = 0;
  for (void*& block : g_ring.Empty()) {
    block = std::malloc(16 + size++ % 8 * 16);
    bench::Use(block);
  }
  g_ring.HandOver();
  return kBlocks;
}

void Consume() {
  while (true) {
    const Crate& crate = g_ring.Filled();
    if (crate.front() == nullptr) return;
    for (void* block : crate) std::free(block);
    g_ring.GiveBack();
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::thread consumer(Consume);
  bench::Measure(bench::Argument(argc, argv, 1), Produce);
  g_ring.Empty().front() = nullptr;
  g_ring.HandOver();
  consumer.join();
}
