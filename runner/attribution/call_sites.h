// What all blocks of one stack id share: the symbolised stack, whose it is, the
// operator that the user called. Each stack is looked at once.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unwind_end.h"
#include "runner/attribution/finding.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct ResolvedStack {
  std::vector<Frame> frames;  // innermost first
  UnwindEnd end = UnwindEnd::kOutermost;
};

// Symbolises a stack id of a region.
using StackResolver = std::function<ResolvedStack(std::uint32_t stack)>;

struct CallSite {
  Finding finding;                     // without amounts
  std::optional<AllocationKind> kind;  // if it is not each block's own
  std::string text;                    // two stacks that a reader takes for the same have the same
};

class CallSites {
 public:
  explicit CallSites(StackResolver resolve) : resolve_(std::move(resolve)) {}

  // Good until this goes.
  [[nodiscard]] const CallSite& Of(std::uint32_t stack);

 private:
  StackResolver resolve_;
  std::unordered_map<std::uint32_t, CallSite> known_;
};

// What tells a call site from another, in any process: the user's own frame; the
// whole stack where no frame is the user's, or main alone.
[[nodiscard]] std::string CallSiteKey(const Finding& finding);

// Likewise, with how it came to allocate: the frames from the innermost to the
// user's own.
[[nodiscard]] std::string AllocationPathKey(const Finding& finding);

// The call site in words: "net::Pool::Grow (src/net/pool.cc:88)".
[[nodiscard]] std::string DescribeCallSite(const Finding& finding);

}  // namespace leakgate
