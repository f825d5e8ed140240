// What a heap profiler adds to runs, and to repetitions. The gate itself has none of it: the
// command line puts it in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runner/host/mailbox_server.h"
#include "runner/region/region_file.h"
#include "runner/result/window_result.h"

namespace leakgate {

struct RepetitionRequest;
struct RepetitionSetup;

// Keeps files of the tests of the program under test. It is called by several threads, one at a
// time. The process waits meanwhile, but at BeginImage, EndImage and Conclude.
class TestObserver {
 public:
  TestObserver() = default;
  TestObserver(const TestObserver&) = delete;
  TestObserver& operator=(const TestObserver&) = delete;
  virtual ~TestObserver() = default;

  // Whether it must see the end of tests that leave nothing, too.
  [[nodiscard]] virtual bool WantsEveryEnd() const = 0;
  // Which events the agent is to write.
  [[nodiscard]] virtual EventRequest Events() const { return {}; }

  // The program begins, or has executed another one. `region` is valid until EndImage.
  virtual void BeginImage(const RegionFile& /*region*/) {}
  virtual void EndImage() {}
  virtual void Begin(const RegionReader& region, std::uint32_t window) = 0;
  // A test that leaves nothing may end without it, unless WantsEveryEnd.
  virtual void End(const RegionReader& region, std::uint32_t window,
                   const WindowResult& result) = 0;
  // The verdicts are final.
  virtual void Conclude(const std::vector<WindowResult>& results) = 0;
};

// Repeats the test of `window` once, on the calling thread, and returns what made it exceed its
// limits on what it may do, whatever it leaves. Any exception is an answer, too.
using TopAllocatorsFinder = std::function<std::vector<TopAllocators>(
    const RepetitionSetup& setup, const RepetitionRequest& request, const WindowResult& window)>;

struct RunExtensions {
  std::vector<std::shared_ptr<TestObserver>> observers;
  MakeAnswerer answer_more;                 // if null, what only a profiler can answer is refused
  TopAllocatorsFinder find_top_allocators;  // if null, nobody finds them
};

}  // namespace leakgate
