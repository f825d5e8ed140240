// Which budget applies to a window: budget files in, limits out. Reads no file;
// it only asks the file system which directory a path stands for.
//
// The file in the deepest directory that contains the test's source file wins;
// files whose directory does not contain it come after those that do. Two at
// the same depth that both claim a test are an error, never a guess.
//
//   test in src/net/http/pool_test.cc, claimed by    ranks (directories deep)
//     src/net/http/http.leakgate.json                  deepest: wins
//     src/net/net.leakgate.json                        less deep
//     ci/all.leakgate.json                             0: does not contain it
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/applied_budget.h"
#include "runner/budget/budget_file.h"
#include "runner/budget/expiry.h"
#include "runner/budget/filter.h"

namespace leakgate {

// A test as GoogleTest lists it.
struct TestId {
  std::string name;         // "Suite.Test"
  std::string source_file;  // empty if not known; relative: to the current directory
};

// Which of the two policies a test is judged by. True: no file limits what it may
// leave outstanding, so that it is judged by what is lost, and by what is retained
// and grows when the test is repeated. False: by its limit, to the letter.
[[nodiscard]] bool UsesDefaultPolicy(const AppliedBudget& budget);

// True if `file` is for code, or for the code of no one: it covers no test by name.
[[nodiscard]] bool CoversCodeOnly(const BudgetFile& file);

// A file that covers a test.
struct BudgetCandidate {
  const BudgetFile* file = nullptr;
  std::ptrdiff_t depth = 0;  // of its directory, if that contains the test's source; else 0
};

class BudgetSet {
 public:
  // Keeps the files that apply to `binary` (a path; its file name is matched).
  // What has expired by `today` does not apply.
  BudgetSet(std::vector<BudgetFile> files, const std::filesystem::path& binary,
            std::chrono::year_month_day today = Today());

  // The budget of a test window. Error: two files claim the test.
  [[nodiscard]] Expected<AppliedBudget> ForTest(const TestId& test) const;

  // The budget of a suite window: of the one file that covers all of the
  // suite's `tests`; of none where they belong to several. An override applies
  // if it matches all of them. Error: two files claim a test.
  [[nodiscard]] Expected<AppliedBudget> ForSuite(const std::vector<TestId>& tests) const;

  // The budget of the program window: the one file that sets program limits
  // for this binary, else the one file that applies to it; files for code only
  // aside. Error: two files set program limits.
  [[nodiscard]] Expected<AppliedBudget> ForProgram() const;

  // Whether any file names child processes; those whose image has the file name `image`.
  [[nodiscard]] bool NamesProcesses() const;
  [[nodiscard]] bool NamesProcess(const std::string& image) const;

  // The budget of a child process that a file names: of the file that covers the test
  // that started it (no name: none did), if that names it; else of the file with the
  // longest pattern. Error: two files have patterns that are as long.
  [[nodiscard]] Expected<AppliedBudget> ForProcess(const std::string& image,
                                                   const TestId& started_by) const;

  // The files that are charged with what their code allocates in any test: those
  // with `code`, and that of `kUnowned`. They live as long as the set.
  [[nodiscard]] std::vector<const BudgetFile*> CodeOwners() const;

  // The budget of such a file for what its code left in a window around `tests`
  // (by full name; none for the program).
  [[nodiscard]] AppliedBudget ForCode(const BudgetFile& file, WindowKind kind,
                                      const std::vector<std::string>& tests) const;

  // A line for each override and allowance of these files that has expired by
  // `today`: "FILE:LINE: the allowance for ... expired on ...; remedy". A run
  // under one must fail.
  [[nodiscard]] std::vector<std::string> Expired(std::chrono::year_month_day today) const;

  // A line for each pattern of processes that is not among `seen`, of the files that cover
  // any of `tests`, which have run: "FILE:LINE: no process matched ...; remedy". Files that
  // cover no test by name are of every run.
  [[nodiscard]] std::vector<std::string> UnseenProcesses(const std::vector<TestId>& tests,
                                                         const std::set<std::string>& seen) const;

  // Checks before launch that no two files claim one of `tests`, and ForProgram.
  [[nodiscard]] Expected<void> Check(const std::vector<TestId>& tests) const;

  // The files that cover `test`, the deepest first: the first one wins, unless
  // the second is as deep.
  [[nodiscard]] std::vector<BudgetCandidate> Candidates(const TestId& test) const;

  // Whether any file limits what is mapped; descriptors or threads; lets tests free until
  // their suite's end.
  [[nodiscard]] bool LimitsMapped() const;
  [[nodiscard]] bool LimitsResources() const;
  [[nodiscard]] bool DefersToSuites() const;

  // The file name of the program under test.
  const std::string& binary_name() const { return binary_name_; }

  // The files that apply to the binary. They live as long as the set.
  [[nodiscard]] std::vector<const BudgetFile*> Files() const;

 private:
  struct Entry {
    BudgetFile file;
    std::filesystem::path directory;  // absolute, links resolved
  };

  [[nodiscard]] bool AnyLimits(bool (*limits)(const WindowLimits&)) const;

  // The file that wins `test`; nullptr if none covers it.
  [[nodiscard]] Expected<const BudgetFile*> Winner(const TestId& test) const;

  std::vector<Entry> entries_;
  std::string binary_name_;
  std::chrono::year_month_day today_;
};

}  // namespace leakgate
