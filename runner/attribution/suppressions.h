// Tells which suppression of another tool covers a finding, as that tool would. What is adopted is
// the finding, not the suppression: its allowance has the call site and the amounts that were seen.
//
// Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attribution/read_suppressions.h"
#include "runner/result/finding.h"

namespace leakgate {

// Returns whether a pattern of LeakSanitizer's matches `text`: anywhere in it, but where '^' and
// '$' say so, and with '*' for any text.
[[nodiscard]] bool MatchesLeakPattern(std::string_view pattern, std::string_view text);

// The function by which a program has suppressions of its own for LeakSanitizer.
inline constexpr std::string_view kDefaultSuppressions = "__lsan_default_suppressions";

class Suppressions {
 public:
  // Returns the symbols of the function that has a frame's code, as the linker spells them.
  // Valgrind's patterns are of such names.
  using SymbolsOf = std::function<std::vector<std::string>(const Frame& frame)>;

  Suppressions(std::vector<Suppression> all, SymbolsOf symbols_of)
      : all_(std::move(all)), uses_(all_.size()), symbols_of_(std::move(symbols_of)) {}

  // Returns the reason for an allowance, "lsan.supp:3 (leak:net::Cache)", of the first that covers
  // the finding, and notes all that do as used. Empty if none does.
  [[nodiscard]] std::string ReasonFor(const Finding& finding);

  // Returns a line for each that covered nothing, and why.
  [[nodiscard]] std::vector<std::string> Unused() const;

 private:
  std::vector<Suppression> all_;
  std::vector<bool> uses_;
  SymbolsOf symbols_of_;
  std::map<std::string, std::string> reasons_;  // by what tells findings apart
};

}  // namespace leakgate
