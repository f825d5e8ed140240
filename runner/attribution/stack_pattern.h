// Call stacks by pattern: what an allowance of a budget file names, and what a
// message proposes to write there. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/attribution/finding.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// A frame as patterns see it, while that lives: the qualified name of its function is found once,
// however many patterns there are.
struct NamedFrame {
  explicit NamedFrame(const Frame& named);

  const Frame& frame;
  std::string function;
};
[[nodiscard]] std::vector<NamedFrame> NameFrames(const std::vector<Frame>& stack);

// True if each of `patterns` matches a frame of `stack`, in order from the
// innermost outwards; other frames may stand between. A pattern is a glob of
//
//   net::Pool::*       the function's qualified name, without parameters
//   net/pool.cc        its source file, if there is a '/'; a relative one
//                      matches at any depth: "/src/net/pool.cc"
//   module:libnet.so*  the file name of its module
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<NamedFrame>& stack);
[[nodiscard]] bool MatchesStack(const std::vector<std::string>& patterns,
                                const std::vector<Frame>& stack);

// The parts of the above, for one frame each. Nothing matches what is not known.
[[nodiscard]] bool MatchesFunction(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesFile(std::string_view glob, const NamedFrame& frame);
[[nodiscard]] bool MatchesModule(std::string_view glob, const NamedFrame& frame);

// Patterns that match the finding's call site: its function; where that has no
// name to write down, as lambdas and instances of templates, its file, or else
// its module. Empty if nothing is known of the stack.
[[nodiscard]] std::vector<std::string> SuggestPattern(const Finding& finding);

}  // namespace leakgate
