// Patterns of call stacks, as the allowances of budget files have them. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/result/finding.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// A frame with the qualified name of its function, which is found once for all patterns. The frame
// must outlive this.
struct NamedFrame {
  explicit NamedFrame(const Frame& named);

  const Frame& frame;
  std::string function;
};
[[nodiscard]] std::vector<NamedFrame> NameFrames(const std::vector<Frame>& stack);

// Returns true if each of `patterns` matches a frame of `stack`, in order from the innermost
// outwards. Other frames may be between those. A pattern is a glob of
//
//   net::Pool::*       the function's qualified name, without parameters
//   net/pool.cc        its source file, if there is a '/'; a relative one
//                      matches at any depth: "/src/net/pool.cc". In paths of Windows, '\' is
//                      the same as '/', and the case of letters does not matter
//   module:libnet.so*  the file name of its module
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<NamedFrame>& stack);
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<Frame>& stack);

// Returns whether a pattern matches source files.
[[nodiscard]] bool NamesFile(std::string_view pattern);

// Each matches one part of a frame. No pattern matches a part that is not known.
[[nodiscard]] bool MatchesFunction(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesFile(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesModule(std::string_view glob, const NamedFrame& frame);

// How closely patterns fit a stack. The innermost frame comes first, then the longest pattern.
struct PatternFit {
  std::size_t frame = 0;  // the frame that the first pattern matches, but at least the user's frame
  std::size_t length = 0;  // of all patterns

  [[nodiscard]] bool IsCloserThan(const PatternFit& other) const {
    return frame != other.frame ? frame < other.frame : length > other.length;
  }
};

// Returns how closely `patterns` fit a stack; nullopt if they do not match it. `user_frame` is the
// index of the innermost frame of the user's. A first pattern of wildcards alone fits least.
[[nodiscard]] std::optional<PatternFit> FitStack(const std::vector<std::string>& patterns,
                                                 const std::vector<NamedFrame>& stack,
                                                 std::optional<std::size_t> user_frame);

// Returns those of `allowances` that match the stack of `site`, the one that fits closest first;
// equal ones are in the order of the file.
[[nodiscard]] std::vector<const AppliedAllowance*> FindAllowances(
    const std::vector<AppliedAllowance>& allowances, const Finding& site);

}  // namespace leakgate
