// Patterns of call stacks: allowances of budget files have them, and messages propose them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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
//                      matches at any depth: "/src/net/pool.cc"
//   module:libnet.so*  the file name of its module
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<NamedFrame>& stack);
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<Frame>& stack);

// Each matches one part of a frame. No pattern matches a part that is not known.
[[nodiscard]] bool MatchesFunction(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesFile(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesModule(std::string_view glob, const NamedFrame& frame);

// Returns a pattern that matches the finding's call site: its function, or its file if the function
// has no plain name (as lambdas and instances of templates), or else its module. Empty if nothing
// is known of the stack.
[[nodiscard]] std::vector<std::string> SuggestPattern(const Finding& finding);

}  // namespace leakgate
