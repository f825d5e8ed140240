// Call sites: what all blocks of one stack id share. That is the symbolised stack, the frame in it
// that is the user's, and the operator that the user called. Each stack is resolved once; one whose
// blocks pass in any case only by symbols, which takes a hundredth of the time.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/unwind_end.h"
#include "runner/base/shared_text.h"
#include "runner/region/region_copies.h"
#include "runner/result/finding.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct ResolvedStack {
  std::vector<Frame> frames;  // innermost first
  UnwindEnd end = UnwindEnd::kOutermost;
};

// Symbolises the stack that an id of a region stands for.
using StackResolver = std::function<ResolvedStack(std::uint32_t stack)>;

struct CallSite {
  Finding finding;                     // without amounts
  std::optional<AllocationKind> kind;  // nullopt if each block has its own kind
  std::string text;                    // the same for all stacks that read the same
};

class CallSites {
 public:
  // `by_symbols` resolves a stack to functions without lines, and without those that were inlined.
  // If it is null, `resolve` does it.
  explicit CallSites(StackResolver resolve, StackResolver by_symbols = nullptr)
      : resolve_(std::move(resolve)), by_symbols_(std::move(by_symbols)) {}

  // The references are valid as long as this lives.
  [[nodiscard]] const CallSite& Of(std::uint32_t stack);
  [[nodiscard]] const CallSite& BySymbols(std::uint32_t stack);

  // Returns false if the blocks of `stack` are the framework's for certain: no function of the
  // user's that was inlined can change that (framework_rules.h).
  [[nodiscard]] bool MayBeUsers(std::uint32_t stack);

 private:
  StackResolver resolve_;
  StackResolver by_symbols_;
  std::unordered_map<std::uint32_t, CallSite> known_;
  std::unordered_map<std::uint32_t, CallSite> known_by_symbols_;
};

// Returns a text that tells call sites apart, in any process: the innermost frame of the user's, or
// the whole stack if no frame is the user's, or if that frame is main.
[[nodiscard]] std::string CallSiteKey(const Finding& finding);

// Returns the text of the whole stack, the same in any process.
[[nodiscard]] std::string CallStackKey(const Finding& finding);

// Returns a text that is the same for what several tests call: the user's frames and those within
// them, without the test's own, TestBody, if that calls others of the user's.
[[nodiscard]] std::string SharedPathKey(const Finding& finding);

// Returns the call site in words, such as "net::Pool::Grow (src/net/pool.cc:88)"; never an empty
// text.
[[nodiscard]] std::string DescribeCallSite(const Finding& finding);

// Returns the same with a long name shortened: two call sites may read the same.
[[nodiscard]] std::string ReadableCallSite(const Finding& finding);

// Findings are made of live blocks: one of all blocks that share a symbolised call stack, a kind
// and what became of them.

// What is known about one block beyond what the region tells.
struct BlockFacts {
  Reach reach = Reach::kUnknown;
  Disposition disposition = Disposition::kOutstanding;
  std::string holder;
  SharedText explanation;
  std::string thread;
  SharedText allowance;
  BaselineState baseline = BaselineState::kNoBaseline;
  bool passes_unseen = false;  // it passes whatever its names are: they are only by symbols
};

// `facts` has an entry for each block, or is empty. The findings are sorted: the user's come before
// the framework's, and what counts before what does not; then come those of more bytes, and of more
// blocks. Equal ones are in the order of their stacks' texts.
[[nodiscard]] std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                                 const std::vector<BlockFacts>& facts,
                                                 CallSites& sites);

// Sorts findings as reports show them; equal ones keep their order.
void SortFindings(std::vector<Finding>& findings);

}  // namespace leakgate
