#include "runner/judge/settled_blocks.h"

#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How long a thread must have run on a processor, or must have waited for something, without
// freeing any of its blocks, until it is no longer expected to.
constexpr milliseconds kEnoughRun(1);
constexpr milliseconds kEnoughWait(3);

// What a thread has done so far, as the kernel counts it.
struct ThreadActivity {
  char state = 0;  // as in /proc/PID/task/TID/status
  int sleeps = 0;
  nanoseconds run{0};
};

int NumberIn(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns nothing if the kernel does not tell.
std::optional<ThreadActivity> ActivityOf(int pid, int tid) {
  const std::string state = StatusField(pid, tid, "State");
  const std::optional<nanoseconds> run = TimeOnProcessor(pid, tid);
  if (state.empty() || !run) return std::nullopt;
  return ThreadActivity{state.front(), NumberIn(StatusField(pid, tid, "voluntary_ctxt_switches")),
                        *run};
}

// A thread that holds blocks of the window.
class Holder {
 public:
  Holder(int pid, int tid) : pid_(pid), tid_(tid) {}

  // Says how many blocks the thread holds now, `waited` after the first look.
  void Note(std::size_t blocks, microseconds waited) {
    if (blocks < blocks_ || !has_begun_) {
      begin_ = ActivityOf(pid_, tid_);
      begin_at_ = waited;
      has_begun_ = true;
    }
    blocks_ = blocks;
  }

  // Whether it may be about to free some of them.
  [[nodiscard]] bool MayFree(microseconds waited) const {
    if (blocks_ == 0) return false;
    if (!begin_) return true;  // the kernel does not tell
    const std::optional<ThreadActivity> now = ActivityOf(pid_, tid_);
    if (!now) return false;  // it has ended
    // It may have been on its way to sleep at the first look, and then have slept once.
    if (now->sleeps > begin_->sleeps + 1 || now->run - begin_->run >= kEnoughRun) return false;
    if (now->state != 'S' || waited - begin_at_ < kEnoughWait) return true;
    return SleepsForATime(pid_, tid_);
  }

 private:
  int pid_;
  int tid_;
  bool has_begun_ = false;
  std::size_t blocks_ = 0;
  std::optional<ThreadActivity> begin_;  // when it held more blocks than before, or at first
  microseconds begin_at_{0};
};

// The threads that hold blocks, but for the asking one and those that have ended.
class Holders {
 public:
  Holders(const RegionReader& region, int asking_tid) : region_(region), asking_tid_(asking_tid) {}

  [[nodiscard]] bool MayAnyFree(const std::vector<LiveBlock>& blocks, microseconds waited) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const LiveBlock& block : blocks) ++counts[block.thread];
    bool may_free = false;
    for (const auto& [thread, count] : counts) {
      const ThreadCopy known = region_.Thread(thread);
      if (known.tid == asking_tid_ || known.has_ended) continue;
      Holder& holder = holders_.try_emplace(thread, region_.Pid(), known.tid).first->second;
      holder.Note(count, waited);
      may_free = may_free || holder.MayFree(waited);
    }
    return may_free;
  }

 private:
  const RegionReader& region_;
  const int asking_tid_;
  std::map<std::uint32_t, Holder> holders_;  // by their ids in the region
};

}  // namespace

Expected<std::vector<LiveBlock>> ReadSettledBlocks(const RegionReader& region, int asking_tid,
                                                   const ReadBlocks& read) {
  constexpr microseconds kLongestPause(51'200);
  auto blocks = read();
  if (asking_tid == 0) return blocks;
  Holders holders(region, asking_tid);
  microseconds waited(0);
  for (microseconds pause(100); blocks && pause <= kLongestPause; pause *= 2) {
    if (!holders.MayAnyFree(*blocks, waited)) break;
    std::this_thread::sleep_for(pause);
    waited += pause;
    blocks = read();
  }
  return blocks;
}

}  // namespace leakgate
