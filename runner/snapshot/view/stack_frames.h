// The stacks of a snapshot with their functions and lines. Each address is symbolized once, when it
// is first asked for. Stacks share their outer frames, so answers that are searched for frame by
// frame are kept for each frame of the tree.
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

#include "runner/attribution/stack_pattern.h"
#include "runner/result/finding.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Frames that look the same to a reader have the same id.
using FrameId = std::uint32_t;

class StackFrames;

// Finds the answer for a stack: that of its innermost frame that has one, or kNone.
class InnermostAnswer {
 public:
  using Answer = std::uint32_t;
  static constexpr Answer kNone = 0;
  // Returns the answer of one frame. It is called once for each.
  using Ask = std::function<Answer(FrameId frame)>;

  // `frames` must outlive it.
  InnermostAnswer(StackFrames& frames, Ask ask) : frames_(frames), ask_(std::move(ask)) {}

  [[nodiscard]] Answer Of(std::uint32_t node);

 private:
  Answer OfFrame(FrameId frame);
  Answer OfAddress(std::uint32_t node);

  StackFrames& frames_;
  Ask ask_;
  std::vector<Answer> by_frame_;  // the answer plus 1; 0: not asked yet
  std::vector<Answer> by_node_;   // the answer plus 1; 0: not asked yet
};

class StackFrames {
 public:
  // Both must outlive the object. `contents` may grow meanwhile. From now on the symbolizer marks
  // known wrappers.
  StackFrames(const SnapshotContents& contents, Symbolizer& symbolizer);
  StackFrames(const StackFrames&) = delete;
  StackFrames& operator=(const StackFrames&) = delete;

  [[nodiscard]] const std::vector<SnapshotNode>& nodes() const { return contents_.nodes; }

  [[nodiscard]] const Frame& Get(FrameId id) const { return frames_[id]; }
  // Returns how many frames have been symbolized so far. All ids are below it.
  [[nodiscard]] std::size_t size() const { return frames_.size(); }
  [[nodiscard]] bool IsUsers(FrameId id) const { return is_users_[id]; }
  // Returns one id for all frames of one function and line, inlined or not.
  [[nodiscard]] FrameId PlaceOf(FrameId id) const { return places_[id]; }

  // Returns the frames of the stack `node`, innermost first, without the agent's. An address has
  // several frames if functions were inlined.
  [[nodiscard]] std::vector<FrameId> FramesOf(std::uint32_t node);

  // Returns the innermost frame of the user's own code, if there is one. A wrapper is returned only
  // if there is no other.
  [[nodiscard]] std::optional<FrameId> UserFrameOf(std::uint32_t node);

  // Returns the innermost frame of the user's own code, wrapper or not: whatever shows whole stacks
  // begins there, since two wrappers that one line calls are two.
  [[nodiscard]] std::optional<FrameId> InnermostUsersOf(std::uint32_t node);

  // Returns the user's own frame, else the innermost one; nullopt for an empty stack.
  [[nodiscard]] std::optional<FrameId> CallSiteOf(std::uint32_t node);

  // Returns how the stack ends outwards: kOutermost if it is complete.
  [[nodiscard]] UnwindEnd EndOf(std::uint32_t node) const;

  // Returns the stack as a finding without an amount.
  [[nodiscard]] Finding AsFinding(std::uint32_t node);

  // Returns the frames of one address, innermost first. REQUIRES: `node` is a frame.
  [[nodiscard]] const std::vector<FrameId>& FramesAt(std::uint32_t node);

  // Returns, by id, why modules have no symbols; only for modules whose frames were asked for.
  [[nodiscard]] const std::map<std::uint32_t, std::string>& problems() const { return problems_; }

 private:
  std::vector<Frame> Symbolize(const SnapshotNode& node);
  std::vector<Frame> KnownAt(const SnapshotNode& node, const SnapshotModule& module,
                             const std::vector<KnownFrame>& known);
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
  InnermostAnswer users_;     // answers the id of the user's frame that is no wrapper's, plus 1
  InnermostAnswer wrappers_;  // answers the id of any frame of the user's, plus 1
};

// The stacks that --filter and --without accept. Each stack is checked once.
class StackFilters {
 public:
  // `frames` must outlive it.
  StackFilters(const std::vector<std::string>& patterns, const std::vector<std::string>& without,
               StackFrames& frames) {
    const auto add = [&](const std::string& pattern, std::vector<InnermostAnswer>& to) {
      to.emplace_back(frames, [&frames, pattern](FrameId frame) {
        return MatchesStack({pattern}, {frames.Get(frame)}) ? 1U : InnermostAnswer::kNone;
      });
    };
    for (const std::string& pattern : patterns) add(pattern, filters_);
    for (const std::string& pattern : without) add(pattern, without_);
  }

  // Returns whether each pattern matches a frame of the stack, and none of the others does.
  [[nodiscard]] bool Match(std::uint32_t stack) {
    const auto matches = [&](InnermostAnswer& filter) {
      return filter.Of(stack) != InnermostAnswer::kNone;
    };
    return std::all_of(filters_.begin(), filters_.end(), matches) &&
           std::none_of(without_.begin(), without_.end(), matches);
  }

 private:
  std::vector<InnermostAnswer> filters_;
  std::vector<InnermostAnswer> without_;
};

}  // namespace leakgate
