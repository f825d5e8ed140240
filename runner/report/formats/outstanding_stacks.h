// What a writer makes of frames, made once for each: stacks share most of theirs.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "runner/result/run_result.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct FrameHash {
  std::size_t operator()(const Frame& frame) const {
    std::size_t hash = static_cast<std::size_t>(frame.line) * 2 + (frame.inlined ? 1 : 0);
    for (const std::string* const text : {&frame.function, &frame.file, &frame.module}) {
      hash = hash * 31 + std::hash<std::string>()(*text);
    }
    return hash * 31 + std::hash<std::uint64_t>()(frame.module_offset);
  }
};

template <typename Value>
class FrameTable {
 public:
  // What `make` gives for `frame`, which it is called with once.
  template <typename Make>
  const Value& Of(const Frame& frame, const Make& make) {
    const auto known = values_.find(frame);
    if (known != values_.end()) return known->second;
    return values_.emplace(frame, make(frame)).first->second;
  }

 private:
  std::unordered_map<Frame, Value, FrameHash> values_;
};

// What the profiles are made of: the outstanding blocks with their stacks. Pure.

// Each finding of `run` but the framework's own, with its window.
void VisitOutstanding(
    const RunResult& run,
    const std::function<void(const WindowResult& window, const Finding& finding)>& visit);

// The frame that stands for the test, outside of all others. Printable.
[[nodiscard]] std::string RootName(const WindowResult& window);

// FrameName, printable.
[[nodiscard]] std::string ProfileFrameName(const Frame& frame);

}  // namespace leakgate
