// Measuring windows: what counts in them, in whatever order and on whatever threads they
// begin and end; that nothing outstanding asks nobody and costs nothing; and that the
// windows of tests count as if there were none.
#include "plugin/agent/windows/measuring_windows.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "plugin/agent/linux/syscall.h"
#include "plugin/agent/windows/phases.h"
#include "runner/region/amount.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::Optional;

// Answers as the runner does: from the live map.
class Measurer {
 public:
  Measurer() : thread_([this] { Serve(); }) {}
  ~Measurer() {
    is_done_ = true;
    thread_.join();
  }
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;

  int asked() const { return asked_; }

 private:
  static void Answer(Mailbox& mailbox) {
    const RegionReader& region = TracedRegion().reader();
    const MeasuringWindowCopy window = region.MeasuringWindow(mailbox.subject);
    mailbox.bytes = mailbox.blocks = 0;
    const std::vector<LiveBlock> blocks = region.LiveBlocks(window).value();
    for (const LiveBlock& block : blocks) {
      mailbox.bytes += static_cast<std::int64_t>(block.size_bytes);
      ++mailbox.blocks;
    }
    const std::string text = "in " + window.name;
    mailbox.text_length = static_cast<std::uint32_t>(text.copy(mailbox.text, text.size()));
  }

  void Serve() {
    Mailbox& mailbox = agent::g_region.mailbox();
    for (std::uint32_t answered = mailbox.reply; !is_done_; std::this_thread::yield()) {
      const std::uint32_t request = mailbox.request.load(std::memory_order_acquire);
      if (request == answered) continue;
      Answer(mailbox);
      ++asked_;
      mailbox.reply.store(request, std::memory_order_release);
      agent::RawSyscall(SYS_futex, agent::Word(&mailbox.reply), 1, 1);  // FUTEX_WAKE
      answered = request;
    }
  }

  std::atomic<bool> is_done_{false};
  std::atomic<int> asked_{0};
  std::thread thread_;
};

std::optional<Amount> AmountOf(const std::optional<agent::Amount>& amount) {
  if (!amount) return std::nullopt;
  return Amount{amount->bytes, amount->blocks};
}

class MeasuringWindowsTest : public RecordingTest {
 protected:
  void SetUp() override { test_ = OpenWindow(); }
  void TearDown() override {
    for (const std::uint64_t address : std::set<std::uint64_t>(live_)) Free(address);
    LeaveWindow(test_);
  }

  static std::uint32_t Open(std::string_view name = "some lines",
                            agent::MeasuredThreads threads = agent::MeasuredThreads::kAll) {
    if (!agent::CanRecord()) return 0;
    const agent::RecordingGuard guard;
    return agent::OpenMeasuringWindow(
        guard, {.name = name, .file = "some.cpp", .line = 7, .threads = threads});
  }
  static std::optional<Amount> Measure(std::uint32_t window) {
    if (!agent::CanRecord()) return std::nullopt;
    const agent::RecordingGuard guard;
    return AmountOf(agent::Measure(guard, window, {}));
  }
  static std::optional<Amount> End(std::uint32_t window) {
    if (!agent::CanRecord()) return std::nullopt;
    const agent::RecordingGuard guard;
    return AmountOf(agent::EndMeasuringWindow(guard, window, {}));
  }

  // A handle's lower part is the id in the region.
  static MeasuringWindowCopy CopyOf(std::uint32_t handle) {
    return Reader().MeasuringWindow(handle % kMaxMeasuringWindows);
  }

  void Make(std::uint64_t address, std::uint64_t bytes) {
    Allocate(address, bytes);
    live_.insert(address);
  }
  __attribute__((noinline)) void Free(std::uint64_t address) {
    // As the interposed functions do.
    if (!agent::RecordFreeHere(At(address), FreeKind::kFree)) {
      agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
    }
    live_.erase(address);
  }
  static void OnAnotherThread(const std::function<void()>& work) { std::thread(work).join(); }

  const Measurer measurer_;
  std::uint32_t test_ = 0;
  std::set<std::uint64_t> live_;
};

TEST_F(MeasuringWindowsTest, CountWhatIsAllocatedMeanwhileAndStillLive) {
  Make(0x2000'0000, 10);
  const std::uint32_t window = Open();
  Make(0x2000'0100, 20);
  Make(0x2000'0200, 600);
  Free(0x2000'0000);
  EXPECT_THAT(Measure(window), Optional(Amount{620, 2}));
  Free(0x2000'0100);
  EXPECT_THAT(Measure(window), Optional(Amount{600, 1}));
  EXPECT_THAT(End(window), Optional(Amount{600, 1}));
  Make(0x2000'0300, 30);
  EXPECT_THAT(Measure(window), Optional(Amount{600, 1}));
  Free(0x2000'0200);
  EXPECT_THAT(Measure(window), Optional(Amount{0, 0}));
}

TEST_F(MeasuringWindowsTest, HoldWhatTheirInnerOnesHold) {
  const std::uint32_t outer = Open("outer");
  Make(0x2000'0000, 1);
  const std::uint32_t inner = Open("inner");
  Make(0x2000'0100, 2);
  EXPECT_THAT(End(inner), Optional(Amount{2, 1}));
  Make(0x2000'0200, 4);
  EXPECT_THAT(Measure(inner), Optional(Amount{2, 1}));
  EXPECT_THAT(End(outer), Optional(Amount{7, 3}));
}

TEST_F(MeasuringWindowsTest, MayOverlap) {
  const std::uint32_t first = Open("first");
  Make(0x2000'0000, 1);
  const std::uint32_t second = Open("second");
  Make(0x2000'0100, 2);
  const std::uint32_t third = Open("third");
  Make(0x2000'0200, 4);
  EXPECT_THAT(End(first), Optional(Amount{7, 3}));
  Make(0x2000'0300, 8);
  EXPECT_THAT(End(third), Optional(Amount{12, 2}));
  Make(0x2000'0400, 16);
  EXPECT_THAT(End(second), Optional(Amount{30, 4}));
  Make(0x2000'0500, 32);
  EXPECT_THAT(Measure(first), Optional(Amount{7, 3}));
  EXPECT_THAT(Measure(second), Optional(Amount{30, 4}));
}

TEST_F(MeasuringWindowsTest, CountAllThreadsUnlessOneIsAskedFor) {
  const std::uint32_t all = Open("all");
  const std::uint32_t own = Open("own", agent::MeasuredThreads::kThis);
  Make(0x2000'0000, 1);
  OnAnotherThread([this] { Make(0x2000'0100, 2); });
  EXPECT_THAT(Measure(all), Optional(Amount{3, 2}));
  EXPECT_THAT(Measure(own), Optional(Amount{1, 1}));
  OnAnotherThread([this] { Free(0x2000'0000); });
  EXPECT_THAT(End(own), Optional(Amount{0, 0}));
  EXPECT_THAT(End(all), Optional(Amount{2, 1}));
}

TEST_F(MeasuringWindowsTest, MayEndOnAnotherThread) {
  const std::uint32_t window = Open();
  Make(0x2000'0000, 1);
  OnAnotherThread([&] { EXPECT_THAT(End(window), Optional(Amount{1, 1})); });
  Make(0x2000'0100, 2);
  EXPECT_THAT(Measure(window), Optional(Amount{1, 1}));
}

TEST_F(MeasuringWindowsTest, AskNobodyWhereNothingIsOutstanding) {
  const std::uint32_t window = Open();
  Make(0x2000'0000, 1);
  Free(0x2000'0000);
  EXPECT_THAT(Measure(window), Optional(Amount{0, 0}));
  EXPECT_THAT(End(window), Optional(Amount{0, 0}));
  EXPECT_EQ(measurer_.asked(), 0);
}

TEST_F(MeasuringWindowsTest, TellTheRunnersTextAsFarAsThereIsRoom) {
  const std::uint32_t window = Open("config");
  Make(0x2000'0000, 1);
  char text[7] = "......";
  ASSERT_TRUE(agent::CanRecord());
  {
    const agent::RecordingGuard guard;
    EXPECT_TRUE(agent::Measure(guard, window, {text, sizeof(text)}).has_value());
  }
  EXPECT_STREQ(text, "in con");
  End(window);
}

TEST_F(MeasuringWindowsTest, NeedNoTableInALoopThatLeavesNothing) {
  for (const std::uint32_t outer : {0U, Open("outer")}) {
    const std::uint32_t windows = agent::g_region.header().measuring_window_count;
    std::uint32_t contexts = 0;
    for (int i = 0; i < 100'000; ++i) {
      const std::uint32_t window = Open("in a loop");
      Make(0x2000'0000, 1);
      Free(0x2000'0000);
      ASSERT_THAT(End(window), Optional(Amount{0, 0}));
      if (i == 0) contexts = agent::g_region.header().context_count;
    }
    EXPECT_EQ(agent::g_region.header().context_count, contexts);
    EXPECT_LE(agent::g_region.header().measuring_window_count, std::max(windows, 1U));
    if (outer != 0) {
      EXPECT_THAT(End(outer), Optional(Amount{0, 0}));
    }
  }
}

TEST_F(MeasuringWindowsTest, KeepApartWhatEachInALoopLeft) {
  std::vector<std::uint32_t> windows;
  for (std::uint64_t i = 0; i < 200; ++i) {
    windows.push_back(Open("in a loop"));
    Make(0x2000'0000 + 0x100 * i, i + 1);
    ASSERT_THAT(End(windows.back()), Optional(Amount{static_cast<std::int64_t>(i) + 1, 1}));
  }
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_THAT(Measure(windows[i]), Optional(Amount{static_cast<std::int64_t>(i) + 1, 1}));
  }
}

TEST_F(MeasuringWindowsTest, AreNotMeasuredWhereThereIsNoRoom) {
  for (std::atomic<std::uint32_t>* const count : {&agent::g_region.header().measuring_window_count,
                                                  &agent::g_region.header().context_count}) {
    const std::uint64_t drops = Reader().Drops(DropReason::kMeasuringWindowTableFull);
    const std::uint32_t before = count->exchange(kMaxContexts / 2);
    const std::uint32_t window = Open();
    *count = before;
    EXPECT_EQ(window, 0U);
    EXPECT_EQ(Reader().Drops(DropReason::kMeasuringWindowTableFull), drops + 1);
    EXPECT_EQ(Measure(window), std::nullopt);
    EXPECT_EQ(End(window), std::nullopt);
  }
}

TEST_F(MeasuringWindowsTest, AreNotMeasuredOnceSomethingWasDropped) {
  const std::uint32_t before = Open();
  Allocate(0x2000'0008, 1);  // not aligned
  const std::uint32_t after = Open();
  EXPECT_EQ(Measure(before), std::nullopt);
  EXPECT_THAT(Measure(after), Optional(Amount{0, 0}));
  EXPECT_THAT(End(after), Optional(Amount{0, 0}));
  EXPECT_EQ(End(before), std::nullopt);
}

TEST_F(MeasuringWindowsTest, CountABlockThatWasNotFreedAfterAll) {
  const std::uint32_t outer = Open();
  Make(0x2000'0000, 600);
  const std::uint32_t inner = Open();
  const auto freed =
      agent::RecordFree(At(0x2000'0000), {FreeKind::kRealloc, LEAKGATE_CALLER_FRAME()});
  agent::RestoreBlock(At(0x2000'0000), freed.value());
  const MeasuringWindowCopy copy = CopyOf(outer);
  EXPECT_EQ(agent::SumPhases(copy.first_phase, kMaxMeasuringWindows).bytes, 600);
  EXPECT_THAT(End(inner), Optional(Amount{0, 0}));
  EXPECT_THAT(End(outer), Optional(Amount{600, 1}));
}

TEST_F(MeasuringWindowsTest, OfAnEarlierRegionAreNotMeasured) {
  const std::uint32_t before = Open();
  Make(0x2000'0000, 1);
  Free(0x2000'0000);
  // The shards of another region would be new.
  for (std::uint32_t i = 0; i < agent::g_region.header().shard_count; ++i) {
    agent::HandOver(agent::g_region.shards()[i], {test_, 0});
  }
  agent::RestartMeasuringWindows();
  agent::g_region.header().measuring_window_count = 0;
  agent::RaiseEpoch();
  const std::uint32_t after = Open();
  Make(0x2000'0000, 2);
  EXPECT_EQ(Measure(before), std::nullopt);
  EXPECT_THAT(Measure(after), Optional(Amount{2, 1}));
  EXPECT_EQ(End(before), std::nullopt);
  EXPECT_THAT(End(after), Optional(Amount{2, 1}));
}

TEST_F(MeasuringWindowsTest, AreToldWithNameAndPlace) {
  const std::uint32_t window = Open("load config");
  const MeasuringWindowCopy copy = CopyOf(window);
  EXPECT_NE(copy.id, 0U);
  EXPECT_EQ(copy.state, WindowState::kOpen);
  EXPECT_EQ(copy.window, test_);
  EXPECT_EQ(copy.name, "load config");
  EXPECT_EQ(copy.file, "some.cpp");
  EXPECT_EQ(copy.line, 7);
  End(window);
}

// Runs what it is told on a thread of its own, while the caller waits.
class Worker {
 public:
  Worker() : thread_([this] { Serve(); }) {}
  ~Worker() {
    Run(nullptr);
    thread_.join();
  }
  void Run(const std::function<void()>& work) {
    work_ = work;
    has_work_ = true;
    while (has_work_) std::this_thread::yield();
  }

 private:
  void Serve() {
    for (;;) {
      while (!has_work_) std::this_thread::yield();
      const bool is_last = !work_;
      if (!is_last) work_();
      has_work_ = false;
      if (is_last) return;
    }
  }
  std::function<void()> work_;
  std::atomic<bool> has_work_{false};
  std::thread thread_;
};

// Random steps on random threads, one after the other, against sets of addresses.
class MeasuringModelTest : public MeasuringWindowsTest {
 protected:
  struct Model {
    std::uint32_t id = 0;
    bool is_open = true;
    std::map<std::uint64_t, std::int64_t> live;
  };

  static Amount AmountIn(const Model& window) {
    Amount amount;
    for (const auto& [address, bytes] : window.live) amount += Amount{bytes, 1};
    return amount;
  }

  std::uint64_t Pick(std::uint64_t count) { return random_() % count; }

  void AllocateOrFree() {
    const std::uint64_t address = 0x3000'0000 + 0x100 * Pick(64);
    if (live_.contains(address)) {
      for (Model& window : windows_) window.live.erase(address);
      return Free(address);
    }
    const std::uint64_t bytes = 1 + Pick(1000);
    Make(address, bytes);
    for (Model& window : windows_) {
      if (window.is_open) window.live[address] = static_cast<std::int64_t>(bytes);
    }
  }

  void EndSome(std::size_t index) {
    Model& window = windows_[index];
    window.is_open = false;
    const Amount expected = AmountIn(window);
    EXPECT_THAT(End(window.id), Optional(expected));
    // Its id may be another's now.
    if (expected.blocks == 0) windows_.erase(windows_.begin() + static_cast<long>(index));
  }

  void Step() {
    const std::uint64_t what = Pick(20);
    if (what < 12) return AllocateOrFree();
    if (what < 15 && windows_.size() < 40) return windows_.push_back({Open(), true, {}});
    if (windows_.empty()) return;
    const std::size_t index = what < 17 ? windows_.size() - 1 : Pick(windows_.size());
    const bool ends = what < 19 && windows_[index].is_open;
    if (ends) return EndSome(index);
    EXPECT_THAT(Measure(windows_[index].id), Optional(AmountIn(windows_[index])));
    // Looked at for the last time.
    if (!windows_[index].is_open) windows_.erase(windows_.begin() + static_cast<long>(index));
  }

  void EndAll() {
    for (const Model& window : windows_) {
      if (!window.is_open) continue;
      EXPECT_THAT(End(window.id), Optional(AmountIn(window)));
    }
  }

  // The counters alone: what they call nothing must be nothing.
  void CheckCounters() {
    for (const Model& window : windows_) {
      const MeasuringWindowCopy copy = CopyOf(window.id);
      const std::uint32_t end = std::min(copy.end_phase, agent::kMaxPhases);
      const agent::WindowSum sum = agent::SumPhases(copy.first_phase, end);
      EXPECT_EQ((Amount{sum.bytes, sum.blocks}), AmountIn(window));
      EXPECT_TRUE(sum.is_exact);
    }
    const agent::WindowSum sum = agent::SumWindow(test_);
    EXPECT_EQ(sum.blocks, static_cast<std::int64_t>(live_.size()));
  }

  std::mt19937_64 random_{17};
  std::vector<Model> windows_;
};

#ifdef LEAKGATE_THREAD_SANITIZER
constexpr int kPhaseSteps = 300;  // with which each takes 10 ms
#else
constexpr int kPhaseSteps = 5000;
#endif

TEST_F(MeasuringModelTest, TellsJustWhatTheModelTellsOnOneThread) {
  for (int i = 0; i < kPhaseSteps && !HasFailure(); ++i) {
    Step();
    if (i % 100 == 0) CheckCounters();
  }
  EndAll();
}

TEST_F(MeasuringModelTest, TellsJustWhatTheModelTellsOnThree) {
  Worker workers[3];
  for (int i = 0; i < kPhaseSteps && !HasFailure(); ++i) {
    workers[Pick(3)].Run([this] { Step(); });
    if (i % 100 == 0) CheckCounters();
  }
  EndAll();
}

TEST_F(MeasuringWindowsTest, TellNothingWrongWhileOtherThreadsAllocate) {
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&is_done, thread] {
      const std::uint64_t address = 0x4000'0000 + 0x10'0000 * thread;
      for (std::uint64_t i = 0; !is_done; i = (i + 1) % 64) {
        Allocate(address + 0x100 * i, 8);
        if (!agent::RecordFreeHere(At(address + 0x100 * i), FreeKind::kFree)) {
          agent::RecordFree(At(address + 0x100 * i), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
        }
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const std::uint32_t own = Open("own", agent::MeasuredThreads::kThis);
    Make(0x2000'0000, 1);
    ASSERT_THAT(Measure(own), Optional(Amount{1, 1}));
    const std::uint32_t inner = Open("inner", agent::MeasuredThreads::kThis);
    ASSERT_THAT(Measure(inner), Optional(Amount{0, 0}));
    Free(0x2000'0000);
    ASSERT_THAT(End(inner), Optional(Amount{0, 0}));
    ASSERT_THAT(End(own), Optional(Amount{0, 0}));
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(agent::SumWindow(test_).blocks, 0);
  const std::uint32_t all = agent::g_phase;
  EXPECT_EQ(all, 0U);
  EXPECT_EQ(agent::SumPhases(1, agent::kMaxPhases).blocks, 0);
}

}  // namespace
}  // namespace leakgate::test
