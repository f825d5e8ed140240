// A told stack against another unwinder's frames, one by one outwards.
#pragma once

#include <cstdint>

#include "plugin/agent/base/region.h"
#include "plugin/agent/unwind/stack_walker.h"
#include "tests/stack_check/check_file.h"

namespace leakgate::check {

class Comparison {
 public:
  Comparison(const agent::CallerFrame& caller, std::uint32_t told_stack)
      : caller_sp_(caller.sp), node_(told_stack) {}

  // The other's next frame; `pc` as StackNode::pc. The checker's and the agent's
  // own come first and are skipped. False once it is decided.
  bool Next(std::uint64_t pc, std::uint64_t sp) {
    if (!is_reached_ && sp != caller_sp_) return true;
    is_reached_ = true;
    other_pc_ = pc;
    if (IsToldsEnd()) {
      if (end() != UnwindEnd::kDepthLimit) difference_ = Difference::kEndsEarly;
      return false;
    }
    if (told_pc() != pc) {
      difference_ = Difference::kOtherFrame;
      return false;
    }
    agreed_pc_ = pc;
    other_pc_ = 0;
    node_ = agent::g_region.stacks()[node_].parent;
    ++agreed_frames_;
    return true;
  }

  // The other has no more frames.
  void End() {
    if (!is_reached_) {
      difference_ = Difference::kNotReached;
    } else if (!IsToldsEnd()) {
      difference_ = Difference::kGoesOn;
    }
  }

  Difference difference() const { return difference_; }
  // How the told stack ends. REQUIRES: no difference.
  UnwindEnd end() const { return static_cast<UnwindEnd>(node_); }
  std::uint32_t agreed_frames() const { return agreed_frames_; }
  std::uint64_t agreed_pc() const { return agreed_pc_; }
  std::uint64_t told_pc() const { return IsToldsEnd() ? 0 : agent::g_region.stacks()[node_].pc; }
  std::uint64_t other_pc() const { return other_pc_; }

 private:
  bool IsToldsEnd() const { return node_ < kStackRootCount; }

  const std::uint64_t caller_sp_;
  std::uint32_t node_;
  bool is_reached_ = false;
  Difference difference_ = Difference::kNone;
  std::uint32_t agreed_frames_ = 0;
  std::uint64_t agreed_pc_ = 0;
  std::uint64_t other_pc_ = 0;
};

}  // namespace leakgate::check
