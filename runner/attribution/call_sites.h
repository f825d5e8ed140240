// Call sites: what all blocks of one stack id share. That is the symbolised stack, the frame in it
// that is the user's, and the operator that the user called. Each stack is resolved once. A stack
// whose blocks pass in any case is resolved only by symbols, which takes a hundredth of the time.
//
// A program may have hundreds of thousands of stacks, of some kilobytes each. The first 10,000 of a
// window are kept, and 512 MiB in all. Stacks that are resolved later share the call site of
// another stack that is judged in the same way: by the same framework rule, kind and fold key.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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
  SharedText text;                     // equal for all stacks that read the same
  SharedStack own_frame;          // the user frame alone; empty if it has no call site of its own
  bool has_debug_header = false;  // each of its blocks has one (kDebugBytes)
  bool is_shared = false;         // by stacks that differ from it
};

// Returns what else must be equal for stacks to share a call site: a text of what budgets say about
// it.
using FoldKey = std::function<std::string(const Finding&)>;

struct BlockFacts;

class CallSites {
 public:
  // `by_symbols` resolves a stack to functions without lines, and without those that were inlined.
  // If it is null, `resolve` does it.
  explicit CallSites(StackResolver resolve, StackResolver by_symbols = nullptr)
      : resolve_(std::move(resolve)), by_symbols_(std::move(by_symbols)) {}

  void FoldBy(FoldKey key) { fold_key_ = std::move(key); }
  // From now on, the rules of other test frameworks than GoogleTest do not match. The leak that is
  // planted for --plant-leak has the call stack of whatever the test allocates first.
  void CountOtherFrameworks() { counts_other_frameworks_ = true; }
  // Must be called before a window's blocks are judged: the window's largest call sites are kept.
  void BeginWindow(const std::vector<LiveBlock>& blocks, const std::vector<BlockFacts>& facts);

  // The references are valid as long as this lives.
  [[nodiscard]] const CallSite& Of(std::uint32_t stack);
  [[nodiscard]] const CallSite& BySymbols(std::uint32_t stack);

  // Returns false if the blocks of `stack` are the framework's for certain: no function of the
  // user's that was inlined can change that (framework_rules.h).
  [[nodiscard]] bool MayBeUsers(std::uint32_t stack);

  // Returns the part of a block that is the user's: all of it but a debug runtime's header.
  [[nodiscard]] LiveBlock UsersPart(const LiveBlock& block);

  // Returns the text in memory that all call sites' texts of the same words share.
  [[nodiscard]] SharedText Shared(std::string text) { return texts_.Of(std::move(text)); }

 private:
  // Call sites by stack. A deque's references stay valid.
  struct Known {
    std::unordered_map<std::uint32_t, const CallSite*> by_stack;
    std::deque<CallSite> sites;
    std::map<std::string, CallSite*> shared;
    std::size_t left_in_window = kMostOfWindow;
  };
  static constexpr std::size_t kMostOfWindow = 10'000;

  const CallSite& Find(std::uint32_t stack, const StackResolver& resolve, Known& known);

  StackResolver resolve_;
  StackResolver by_symbols_;
  FoldKey fold_key_;
  bool counts_other_frameworks_ = false;
  Known known_;
  Known known_by_symbols_;
  TextPool texts_;
  std::size_t bytes_ = 0;  // of all call sites
};

// Returns a text that distinguishes call sites, in any process: the innermost frame of the user's,
// or the whole stack if no frame is the user's, or if that frame is main.
[[nodiscard]] std::string CallSiteKey(const Finding& finding);

// Returns the CallSiteKey of the block of another window that it is lost with; empty if there is
// none (Finding::led_from).
[[nodiscard]] std::string LedFromKey(const Finding& finding);

// Returns the text of the whole stack, the same in any process.
[[nodiscard]] std::string CallStackKey(const Finding& finding);

// Returns a text that is the same for code that several tests call: the user's frames and those
// within them, without the test's own frame, TestBody, if that calls others of the user's.
[[nodiscard]] std::string SharedPathKey(const Finding& finding);

// Returns the call site in words, such as "net::Pool::Grow (src/net/pool.cc:88)"; never an empty
// text.
[[nodiscard]] std::string DescribeCallSite(const Finding& finding);

// Returns the same with a long name shortened: two call sites may read the same.
[[nodiscard]] std::string ReadableCallSite(const Finding& finding);

// Findings are made of live blocks: one for all blocks that share a symbolised call stack, a kind
// and a fate.

// The block of the window with which another one is lost; of a retained block, the nearest one of
// another stack that leads to it.
struct LeadingBlock {
  std::uint64_t address = 0;  // 0: there is none
  std::uint32_t stack = 0;
  // The call stack of the block of another window with which both are lost, if there is one.
  std::optional<std::uint32_t> other_windows{};
};

// What is known about one block beyond what the region has.
struct BlockFacts {
  Reach reach = Reach::kUnknown;
  Disposition disposition = Disposition::kOutstanding;
  BaselineState baseline = BaselineState::kNoBaseline;
  bool is_held_by_global : 1 = false;  // as Finding::is_held_by_global
  // It passes whatever its names are, so it is named only by symbols.
  bool passes_unseen : 1 = false;
  // It stands for so many that differ in their addresses alone.
  std::uint32_t blocks = 1;
  LeadingBlock leading;
  SharedText holder;
  SharedText keeper;  // as Finding::keeper
  SharedText explanation;
  SharedText contents;  // as Finding::contents
  SharedText thread;
  SharedText allowance;
};
static_assert(sizeof(BlockFacts) == 80);  // there are millions

// `facts` has an entry for each block, or is empty. The findings are sorted: the user's come before
// the framework's, and what counts before what does not; then come those of more bytes, and of more
// blocks. Equal ones are in the order of their stacks' texts.
[[nodiscard]] std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                                 const std::vector<BlockFacts>& facts,
                                                 CallSites& sites);

// Says in a finding which block leads to its blocks. REQUIRES: its reach is set.
void SetLeading(const LeadingBlock& leading, CallSites& sites, Finding& finding);

// Which findings are told below those whose blocks lead to theirs.
enum class Fold {
  kLost,     // what is lost with them
  kGrowing,  // what grows with them, once it is known that both grow
};
// Moves findings into those that lead to them (Finding::led_to), if both count and are charged to
// the same component.
void FoldFindings(Fold fold, std::vector<Finding>& findings);

// Sorts findings as reports show them; equal ones keep their order.
void SortFindings(std::vector<Finding>& findings);

}  // namespace leakgate
