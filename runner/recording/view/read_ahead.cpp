#include "runner/recording/view/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace leakgate {
namespace {

// One call of the visitor.
using Step = std::function<Expected<void>()>;

// Passes steps from one thread to another. At most kMost wait.
class Steps {
 public:
  // Returns false if the other thread takes no steps any more.
  bool Put(Step step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return steps_.size() < kMost || is_stopped_; });
    if (is_stopped_) return false;
    steps_.push_back(std::move(step));
    changed_.notify_all();
    return true;
  }
  // Says that there are no more.
  void End() {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    changed_.notify_all();
  }
  // Returns nothing at the end.
  std::optional<Step> Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !steps_.empty() || has_ended_; });
    if (steps_.empty()) return std::nullopt;
    Step step = std::move(steps_.front());
    steps_.pop_front();
    changed_.notify_all();
    return step;
  }
  void Stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    steps_.clear();
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kMost = 16;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> steps_;
  bool has_ended_ = false;
  bool is_stopped_ = false;
};

// Returns a function that makes the other thread call `use` with the same value.
template <typename Value>
std::function<void(Value&& value)> Later(Steps& steps,
                                         const std::function<void(Value&& value)>& use) {
  if (!use) return nullptr;
  return [&steps, &use](Value&& value) {
    (void)steps.Put([&use, kept = std::move(value)]() mutable {
      use(std::move(kept));
      return Expected<void>();
    });
  };
}

// Does the same for spans, which are copied. `Use` is a std::function.
template <typename Element, typename Use>
auto LaterAll(Steps& steps, const Use& use) {
  return [&steps, &use](std::span<const Element> elements) {
    const auto give = [&use, kept = std::vector<Element>(elements.begin(), elements.end())]() {
      if constexpr (std::is_void_v<decltype(use(kept))>) {
        use(kept);
        return Expected<void>();
      } else {
        return use(kept);
      }
    };
    return steps.Put(give);
  };
}

Unexpected Stopped() { return InconclusiveError("nobody reads on"); }

RecordingVisitor VisitorOnOtherThread(Steps& steps, const RecordingVisitor& visitor) {
  RecordingVisitor other;
  other.facts = Later<RecordingFacts>(steps, visitor.facts);
  other.module = Later<SnapshotModule>(steps, visitor.module);
  other.window = Later<SnapshotWindow>(steps, visitor.window);
  other.thread = Later<SnapshotThread>(steps, visitor.thread);
  other.mark = Later<std::string>(steps, visitor.mark);
  other.mapping = Later<SnapshotMapping>(steps, visitor.mapping);
  other.closing = Later<RecordingClosing>(steps, visitor.closing);
  if (visitor.nodes) {
    other.nodes = [put = LaterAll<SnapshotNode>(steps, visitor.nodes)](
                      std::span<const SnapshotNode> nodes) { (void)put(nodes); };
  }
  if (visitor.blocks) {
    other.blocks = [put = LaterAll<LiveBlock>(steps, visitor.blocks)](
                       std::span<const LiveBlock> blocks) -> Expected<void> {
      if (!put(blocks)) return Stopped();
      return {};
    };
  }
  if (visitor.events) {
    other.events = [put = LaterAll<RecordedEvent>(steps, visitor.events)](
                       std::span<const RecordedEvent> events) -> Expected<void> {
      if (!put(events)) return Stopped();
      return {};
    };
  }
  return other;
}

}  // namespace

Expected<void> ReadAhead(const RecordingSource& source, const RecordingVisitor& visitor) {
  Steps steps;
  Expected<void> read;
  std::exception_ptr thrown;
  std::thread reader([&] {
    try {
      read = source(VisitorOnOtherThread(steps, visitor));
    } catch (...) {
      thrown = std::current_exception();
    }
    steps.End();
  });
  Expected<void> used;
  try {
    while (used) {
      const std::optional<Step> step = steps.Take();
      if (!step) break;
      used = (*step)();
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  steps.Stop();
  reader.join();
  if (thrown) std::rethrow_exception(thrown);
  return used ? read : used;
}

}  // namespace leakgate
