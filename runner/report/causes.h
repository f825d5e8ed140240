// What a run fails for, by cause. People fix causes, and one of them may fail hundreds of tests.
//
// A cause is a call site whose blocks or mappings put tests over budget, such as what
// net::Pool::Grow makes at src/pool.cc:88, whether it is lost or grows; or one that frees by the
// wrong function; or a limit that one test exceeds and no call site explains, such as its
// descriptors. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/report/excess.h"
#include "runner/result/run_result.h"

namespace leakgate {

struct Cause {
  static constexpr std::size_t kNamed = 3;

  std::string key;  // tells causes apart, in any run
  // Of the failing windows, the one with most bytes of it; it has only what belongs to this cause.
  WindowResult worst;
  const WindowResult* whole = nullptr;  // that window, with all that it has; null: not at hand
  Amount worst_amount;                  // in that window
  Amount amount;                        // in all windows, each iteration counted
  // Of that, what other windows made and only its lost blocks led to; and the largest finding of
  // each call site of it.
  Amount led_to;
  std::vector<Finding> led_findings;
  // What is over in all windows together; where the budget permits some, in the worst of them.
  std::vector<Violation> violations;
  // The tests, suites and processes that fail for it, in the order of the run: the first failing
  // iteration of each.
  std::vector<const WindowResult*> windows;
  std::int64_t count = 0;                // of these
  std::vector<std::string> first_names;  // of the first kNamed of these
  bool are_tests = true;                 // and neither suites nor processes nor the program
};

// The call sites whose lost blocks make a suite, the program or a process fail. What a test made,
// and is lost with such a block, is no cause of its own. A block that another test made is no such
// owner: mostly, a word that was there before it leads on by chance.
class LosingSites {
 public:
  explicit LosingSites(const std::vector<WindowResult>& windows);

  // Returns the key of the cause of `finding`, which explains `violation`.
  [[nodiscard]] std::string CauseKey(const Finding& finding, const Violation& violation) const;
  // Returns whether the cause is a block of another window, with which this one's are lost.
  [[nodiscard]] bool AreLedFromOther(const Finding& finding, const Violation& violation) const;
  // Returns the sum of what other windows made and is lost with blocks of the cause of that key.
  [[nodiscard]] Amount LedTo(const std::string& key) const;

 private:
  std::map<std::string, Amount> led_to_;  // by key of the cause
};

// Returns the causes of all windows over budget: those of most bytes first, and equal ones in the
// order of the run. `windows` must outlive what is returned.
[[nodiscard]] std::vector<Cause> CollectCauses(const std::vector<WindowResult>& windows);

// Adds the amounts and violations of `cause` to `total`, which has those of other runs.
void AddTotals(const Cause& cause, Cause& total);

// What of one window belongs to one cause: indices of the window's lists.
struct WindowCause {
  std::string key;       // the same wherever the cause is met
  bool has_site = true;  // false: nothing tells of which code it is, so only this window has it
  bool is_led_from_other = false;  // all of it is lost with blocks of another window
  std::vector<std::size_t> findings;
  std::vector<std::size_t> mappings;
  std::vector<std::size_t> free_errors;
  std::vector<std::size_t> violations;
  std::vector<BudgetEntry> entries;  // that allow it
};

// Returns what `window` fails for, for a report that counts by cause itself. Nothing if it is not
// over budget. `sites` are those of all windows.
[[nodiscard]] std::vector<WindowCause> CausesOf(const WindowResult& window,
                                                const LosingSites& sites);

// Remembers which causes have been told in full, and of which window. Used by one thread at a time.
class ReportedCauses {
 public:
  // Returns the name of the window of which the first cause of `window` has been told, if all
  // its causes have been; else an empty text, and from now on they have. REQUIRES: it is over
  // budget.
  std::string FindOrAdd(const WindowResult& window);

 private:
  std::map<std::string, std::string> reported_;  // the window, by the cause
};

// Returns `worst` with what is over in all windows.
[[nodiscard]] WindowResult InAllWindows(const Cause& cause);

// Returns "40 tests", or "3 places" if suites, processes or the program are among them.
[[nodiscard]] std::string WindowCountText(const Cause& cause);

// Returns the call site of each cause, such as "net::Pool::Grow (src/pool.cc:88)"; an empty text
// where none explains it. Long names are shortened unless two would read the same. They are not
// made printable.
[[nodiscard]] std::vector<std::string> SiteTexts(const std::vector<Cause>& causes,
                                                 const std::string& base_directory);

}  // namespace leakgate
