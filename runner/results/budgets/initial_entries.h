// The allowances that make failing windows green: what a first budget file has. `leakgate budget
// init` and `leakgate adopt --budgets` write them. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/result/window_result.h"

namespace leakgate {

// Which tests an entry is for: any, so that it is of the whole component; or those alone that have
// been seen to need it, so that another one which leaves the same fails.
enum class EntryScope { kAnyTest, kSeenTests };

// An entry of the file to be. The allowance's line is the entry's number, which tells it apart from
// the others.
struct InitialEntry {
  AppliedAllowance allowance;            // its source has the reason
  std::vector<std::string> tests;        // filters, sorted; empty: every test
  Amount most;                           // that it must cover in any window
  std::map<std::string, Amount> needed;  // that by the window's filter; of windows it makes pass
};

// Returns the filter for the tests of a window; empty for the program. All instances of a
// parameterised test have one.
[[nodiscard]] std::string FilterOf(const WindowResult& window);

// Returns `name` as a filter that matches it, whatever letters it has.
[[nodiscard]] std::string LiteralFilter(std::string name);

// Finds the entries that make windows green, by judging their findings by the entries.
class InitialEntries {
 public:
  using ReasonOf = std::function<std::string(const WindowResult& window, const Finding& finding)>;

  // `failing` are windows over budget, and must outlive this. An entry has the reasons of all the
  // findings that it was made for.
  InitialEntries(std::vector<const WindowResult*> failing, EntryScope scope,
                 const ReasonOf& reason_of);

  [[nodiscard]] const std::vector<InitialEntry>& entries() const { return entries_; }
  // What the program's own window may lose: no pattern tells it from what the tests lose.
  [[nodiscard]] Amount LostByProgram() const { return lost_by_program_; }
  // Returns what no entry can allow, a line each.
  [[nodiscard]] std::vector<std::string> StillFailing() const;

 private:
  void AddEntries(const WindowResult& window, const std::vector<Finding>& findings,
                  const ReasonOf& reason_of);
  InitialEntry& AddEntry(const std::vector<std::string>& pattern, const std::string& filter);
  void Replay();
  void Replay(const WindowResult& window, const std::vector<Finding>& findings);
  bool RemoveUnneeded();

  const std::vector<const WindowResult*> failing_;
  const EntryScope scope_;
  std::vector<InitialEntry> entries_;
  Amount lost_by_program_;
  std::vector<std::string> without_pattern_;
};

// Returns the entry as JSON, indented for the list "allowances" of a budget file.
[[nodiscard]] std::string EntryText(const InitialEntry& entry);
// Returns ["a", "b"].
[[nodiscard]] std::string JsonList(const std::vector<std::string>& texts);

}  // namespace leakgate
