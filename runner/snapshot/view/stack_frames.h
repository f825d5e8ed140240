// The stacks of a snapshot with their functions and lines, told only when they are asked
// for, and each address once. Stacks share their outer frames, so what is asked of a stack
// frame by frame is remembered for each frame of the tree.
//
// One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/attribution/finding.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Two frames that a reader takes for the same have the same.
using FrameId = std::uint32_t;

class StackFrames;

// An answer for each frame of the tree: that of the innermost frame of a stack that has
// one. `kNone` stands for no answer.
class InnermostAnswer {
 public:
  using Answer = std::uint32_t;
  static constexpr Answer kNone = 0;
  // What a frame answers; each is asked once.
  using Ask = std::function<Answer(FrameId frame)>;

  // `frames` outlives it.
  InnermostAnswer(StackFrames& frames, Ask ask) : frames_(frames), ask_(std::move(ask)) {}

  [[nodiscard]] Answer Of(std::uint32_t node);

 private:
  Answer OfFrame(FrameId frame);
  Answer OfAddress(std::uint32_t node);

  StackFrames& frames_;
  Ask ask_;
  std::vector<Answer> by_frame_;  // plus 1; 0: not asked yet
  std::vector<Answer> by_node_;   // likewise
};

class StackFrames {
 public:
  // Both outlive it; `contents` may grow meanwhile.
  StackFrames(const SnapshotContents& contents, Symbolizer& symbolizer);
  StackFrames(const StackFrames&) = delete;
  StackFrames& operator=(const StackFrames&) = delete;

  [[nodiscard]] const std::vector<SnapshotNode>& nodes() const { return contents_.nodes; }

  [[nodiscard]] const Frame& Get(FrameId id) const { return frames_[id]; }
  // How many have been told so far: ids are below that.
  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] bool IsUsers(FrameId id) const { return is_users_[id]; }
  // The same of all frames of one function and line, inlined or not.
  [[nodiscard]] FrameId PlaceOf(FrameId id) const { return places_[id]; }

  // The frames of the stack `node`, innermost first, without the agent's. Most have one for
  // each address; more where functions were inlined.
  [[nodiscard]] std::vector<FrameId> FramesOf(std::uint32_t node);

  // The user's own frame of the stack: the innermost; none if no frame is the user's.
  [[nodiscard]] std::optional<FrameId> UserFrameOf(std::uint32_t node);

  // The user's own frame, else the innermost; none of an empty stack.
  [[nodiscard]] std::optional<FrameId> CallSiteOf(std::uint32_t node);

  // How it ends outwards: kOutermost where all of it is there.
  [[nodiscard]] UnwindEnd EndOf(std::uint32_t node) const;

  // The stack as findings have it, without an amount.
  [[nodiscard]] Finding AsFinding(std::uint32_t node);

  // The frames that belong to one address, innermost first; REQUIRES: a frame's node.
  [[nodiscard]] const std::vector<FrameId>& FramesAt(std::uint32_t node);

  // Of modules that frames were asked of: why one has no symbols, by its id.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& problems() const { return problems_; }

 private:
  std::vector<Frame> Symbolize(const SnapshotNode& node);
  bool IsUsable(const SnapshotModule& module);
  std::string ProblemOf(const SnapshotModule& module);
  FrameId Intern(Frame frame);

  const SnapshotContents& contents_;
  Symbolizer& symbolizer_;
  std::vector<Frame> frames_;
  std::vector<bool> is_users_;  // by frame, as the next
  std::vector<FrameId> places_;
  std::map<std::string, FrameId> place_ids_;
  std::map<std::pair<std::string, bool>, FrameId> ids_;  // by place, and whether inlined
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<FrameId>> by_address_;
  std::map<std::uint32_t, bool> is_usable_;  // by module
  std::map<std::uint32_t, std::string> problems_;
  InnermostAnswer users_;  // the frame's id, plus 1
};

// Which stacks are asked for: --filter. Each stack is looked at once.

class StackFilters {
 public:
  // `frames` outlives it.
  StackFilters(const std::vector<std::string>& patterns, StackFrames& frames) {
    for (const std::string& pattern : patterns) {
      filters_.emplace_back(frames, [&frames, pattern](FrameId frame) {
        return MatchesStack({pattern}, {frames.Get(frame)}) ? 1U : InnermostAnswer::kNone;
      });
    }
  }

  // True if each pattern matches a frame of the stack.
  [[nodiscard]] bool Match(std::uint32_t stack) {
    return std::all_of(filters_.begin(), filters_.end(), [&](InnermostAnswer& filter) {
      return filter.Of(stack) != InnermostAnswer::kNone;
    });
  }

 private:
  std::vector<InnermostAnswer> filters_;
};

}  // namespace leakgate
