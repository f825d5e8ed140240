// Allocation wrappers: functions that allocate for their callers, such as xmalloc. The call site of
// a block is never in one, and a component is not charged for what its wrapper returns: the caller
// must free it. Budget files and the command line declare wrappers, and a list of known ones ships
// with leakgate. docs/framework.md has the details.
//
// A wrapper hides nothing: its blocks count as before, under another call site.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct KnownWrappers {
  std::string_view library;                    // the library to which they belong
  std::span<const std::string_view> patterns;  // of qualified names, as stack_pattern.h has them
};

// `leakgate framework` prints the list.
[[nodiscard]] std::span<const KnownWrappers> ListKnownWrappers();

// Returns whether the function is one by which code tells of a pool's blocks (leakgate/pool.h).
[[nodiscard]] bool TellsOfPool(const Frame& frame);

// Recognises wrappers by their names. Used by one thread at a time.
class WrapperPatterns {
 public:
  // `declared` has patterns as stack_pattern.h has them.
  explicit WrapperPatterns(std::vector<std::string> declared = {});

  // Returns how it is known that the function of `frame` is a wrapper.
  [[nodiscard]] Wrapper Find(const Frame& frame);

 private:
  [[nodiscard]] bool IsKnown(const std::string& function);

  std::vector<std::string> declared_;
  std::unordered_set<std::string_view> known_names_;
  std::vector<std::string_view> known_globs_;
  std::unordered_map<std::string, bool> is_known_;  // by the function, as symbols spell it
};

// Returns WrapperPatterns::Find of such patterns, as the Symbolizer asks for it.
[[nodiscard]] std::function<Wrapper(const Frame&)> FindWrappersBy(
    std::vector<std::string> declared);

// Returns the patterns that the files declare.
[[nodiscard]] std::vector<std::string> DeclaredWrappers(
    const std::vector<const BudgetFile*>& files);

}  // namespace leakgate
