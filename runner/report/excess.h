// Says by how much a window is over its budget. The violations of bytes and of blocks of one
// quantity make one text. Says, too, what to put into a budget file to allow exactly what was
// measured. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

struct Excess {
  std::string amount;                // "128 B in 2 blocks outstanding", "growth +64 B (+1 block)"
  std::string budget;                // "budget 64 B and 1 block"; empty: no file sets a limit
  std::vector<std::string> sources;  // "net.json:14"; each once, and none without a limit
  std::vector<std::string> reasons;  // of the overrides that set the limits; each once
  std::string component;             // whose budget it is; empty: nobody's
};

// Returns them in the order of the violations. The texts are not made printable.
[[nodiscard]] std::vector<Excess> Excesses(const WindowResult& window);

// Returns "128 B in 2 blocks outstanding, budget 64 B", or the amount alone where no file limits
// it.
[[nodiscard]] std::string ExcessText(const Excess& excess);

// Returns where the limits stand, "net.json:14, net.json:20"; empty if no file sets one.
[[nodiscard]] std::string SourcesText(const Excess& excess);

[[nodiscard]] inline Quantity QuantityOf(const Violation& violation) {
  return QuantityOf(violation.metric);
}

// Returns true if `violation` is one of `quantity`.
[[nodiscard]] inline bool IsOf(const Violation& violation, Quantity quantity) {
  return QuantityOf(violation) == quantity;
}

// Returns whether repetitions have shown it.
[[nodiscard]] bool IsOfGrowth(const Violation& violation);
// Returns whether its findings are the window's mappings, threads' stacks among them.
[[nodiscard]] bool IsOfMappings(const Violation& violation);
// Returns whether `finding` is a part of what grows and exceeds the limit.
[[nodiscard]] bool IsGrowthIn(const Finding& finding, const Violation& violation);

// Returns whether `finding`, one of the window's, is a part of what exceeds the limit.
[[nodiscard]] bool Explains(const Finding& finding, const Violation& violation,
                            const WindowResult& window);

// Returns the quantities of which the window does too much, whatever it leaves (IsOfActivity), in
// the order of its violations.
[[nodiscard]] std::vector<Quantity> ExceededActivities(const WindowResult& window);

// Returns an entry of `window.made_by` for each of them, which only tells why nothing is known of
// it.
[[nodiscard]] std::vector<TopAllocators> UnknownTopAllocators(const WindowResult& window,
                                                              const std::string& problem);

// Returns what made the test exceed the limit; nullptr if it is not known, or nobody asks.
[[nodiscard]] const TopAllocators* FindTopAllocators(const Violation& violation,
                                                     const WindowResult& window);

// Returns the same if one call site, the first, did most of it; else nullptr. Where bytes and
// blocks are over their limits, the bytes tell.
[[nodiscard]] const TopAllocators* FindMainAllocator(const WindowResult& window,
                                                     const Violation& violation);

// Sets the whole amount, bytes and blocks, of each violation's quantity, from the rest of the
// window: a report has only the number that is over its limit.
void FillAmounts(WindowResult& window);

// Returns whether an entry is to cover the finding. Of a test that fails anyway, what is
// unconfirmed was not repeated for long: it fails, too, once the rest is allowed.
[[nodiscard]] bool NeedsEntry(const Finding& finding);

// What to paste into a budget file, and where.
struct BudgetEntry {
  std::string place;  // "\"allowances\" of net.json", or "a new NAME.leakgate.json"
  std::string json;
};

// Returns what makes a window pass that is over budget or unconfirmed: allowances for what has call
// stacks, and limits for the rest; a whole file where none covers the window. Empty if nothing can.
[[nodiscard]] std::vector<BudgetEntry> EntriesFor(const WindowResult& window);

// Returns the JSON of the first of these; an empty text if there is none.
[[nodiscard]] std::string RemedyJson(const WindowResult& window);

// Returns one line: "fix it, or allow it in \"overrides\" of net.json: {...}".
[[nodiscard]] std::string RemedyText(const WindowResult& window);

}  // namespace leakgate
