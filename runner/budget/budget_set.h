// Finds the budget that applies to a window. Nothing here reads a file; the file system is only
// asked which directory a path leads to.
//
// If several files cover a test, the file in the deepest directory that contains the test's source
// wins. A file whose directory does not contain the source ranks behind those whose directory does.
// Two files of the same rank that both cover a test are an error, never a guess.
//
//   test in src/net/http/pool_test.cc, covered by    rank (depth of the directory)
//     src/net/http/http.leakgate.json                  the deepest: this file wins
//     src/net/net.leakgate.json                        less deep
//     ci/all.leakgate.json                             0: its directory does not contain the source
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
#include "runner/budget/apply_limits.h"
#include "runner/budget/budget_file.h"
#include "runner/budget/wording.h"

namespace leakgate {

// A test as GoogleTest lists it.
struct TestId {
  std::string name;         // "Suite.Test"
  std::string source_file;  // empty: not known; a relative path starts in the current directory
};

// Returns by which policy a test is judged. True: no file limits its outstanding blocks, so it is
// judged by what is lost, and by what is retained and grows when the test is repeated. False: it is
// judged by the limit alone.
[[nodiscard]] bool UsesDefaultPolicy(const AppliedBudget& budget);

// A file that covers a test.
struct BudgetCandidate {
  const BudgetFile* file = nullptr;
  std::ptrdiff_t depth = 0;  // its directory's depth; 0 if that does not contain the test's source
};

class BudgetSet {
 public:
  // Keeps the files that apply to `binary`, a path whose file name decides. Overrides and
  // allowances that have expired by `today` do not apply.
  BudgetSet(std::vector<BudgetFile> files, const std::filesystem::path& binary,
            std::chrono::year_month_day today = Today());

  // Returns the budget of a test window. Fails if two files claim the test.
  [[nodiscard]] Expected<AppliedBudget> ForTest(const TestId& test) const;

  // Returns the budget of a suite window. It comes from the one file that covers all of the suite's
  // `tests`; it is empty if the tests belong to several files. An override applies if it matches
  // all of them. Fails if two files claim a test.
  [[nodiscard]] Expected<AppliedBudget> ForSuite(const std::vector<TestId>& tests) const;

  // Returns the budget of the program window. It comes from the one file that sets program limits,
  // or else from the only file that there is; files that are for code only do not count. Fails if
  // two files set program limits.
  [[nodiscard]] Expected<AppliedBudget> ForProgram() const;

  // Whether any file names child processes.
  [[nodiscard]] bool NamesProcesses() const;
  // Whether any file names the child processes whose executable has the file name `image`.
  [[nodiscard]] bool NamesProcess(const std::string& image) const;

  // Returns the budget of a child process that a file names. It comes from the file that covers the
  // test that started the process, if that file names the process, or else from the file with the
  // longest matching pattern. `started_by` has no name if no test started the process. Fails if two
  // files claim the test, or have matching patterns of the same length. A process that no file
  // names, such as a forked child, has no limits: what the only file allows is allowed there.
  [[nodiscard]] Expected<AppliedBudget> ForProcess(const std::string& image,
                                                   const TestId& started_by) const;

  // Returns the files that are charged with what their code allocates in any test: files with
  // `code`, and the file of `kUnowned`. They live as long as the set.
  [[nodiscard]] std::vector<const BudgetFile*> CodeOwners() const;

  // Returns the budget of such a file for what its code left in a window around `tests`, which are
  // full names; there are none for the program.
  [[nodiscard]] AppliedBudget ForCode(const BudgetFile& file, WindowKind kind,
                                      const std::vector<std::string>& tests) const;

  // Returns a line for each override and allowance that has expired: "FILE:LINE: the allowance for
  // ... expired on ...; remedy". If there is any, the run must fail.
  [[nodiscard]] std::vector<std::string> ListExpired() const;

  // Returns a line for each process pattern that matches none of `seen`: "FILE:LINE: no process ...
  // was started ...; remedy". Only files are considered that cover one of `tests`, which are those
  // that ran, and files that cover no test by name.
  [[nodiscard]] std::vector<std::string> UnseenProcesses(const std::vector<TestId>& tests,
                                                         const std::set<std::string>& seen) const;

  // Returns a line for each file that covers nothing: it is not for the binary, or its "tests"
  // match none of `tests`, which are the names of all tests of the program. A directory of files
  // serves many binaries. So of `given`, the files and directories as the user gave them, only
  // these are reported: a file that is given itself or names the binary, and a directory in which
  // no file covers anything.
  [[nodiscard]] std::vector<std::string> UnusedFiles(
      const std::vector<std::filesystem::path>& given, const std::set<std::string>& tests) const;

  // Fails if two files claim one of `tests`, or set program limits. Called before the launch.
  [[nodiscard]] Expected<void> Check(const std::vector<TestId>& tests) const;

  // Returns the files that cover `test`, the deepest first. The first one wins, unless the second
  // one is as deep.
  [[nodiscard]] std::vector<BudgetCandidate> Candidates(const TestId& test) const;

  // Whether any file limits what is left mapped.
  [[nodiscard]] bool LimitsMapped() const;
  // Whether any file limits temporary blocks.
  [[nodiscard]] bool LimitsTemporary() const;
  // Whether any file limits descriptors or threads.
  [[nodiscard]] bool LimitsResources() const;
  // Whether any file lets tests free their blocks until the end of their suite.
  [[nodiscard]] bool DefersToSuites() const;

  // The file name of the program under test.
  const std::string& binary_name() const { return binary_name_; }

  // Returns the files that apply to the binary. They live as long as the set.
  [[nodiscard]] std::vector<const BudgetFile*> Files() const;

 private:
  struct Entry {
    BudgetFile file;
    std::filesystem::path directory;  // absolute, with links resolved
  };

  [[nodiscard]] Expected<AppliedBudget> ForWholeProcess(WindowKind kind) const;
  [[nodiscard]] bool AnyLimits(bool (*limits)(const WindowLimits&)) const;

  // Returns the file that wins `test`; nullptr if no file covers it. Fails if two files claim it.
  [[nodiscard]] Expected<const BudgetFile*> FindWinner(const TestId& test) const;

  // Returns why a file of the set covers nothing; empty if it does.
  [[nodiscard]] std::string WhyUnused(const BudgetFile& file,
                                      const std::set<std::string>& tests) const;

  std::vector<Entry> entries_;
  std::vector<BudgetFile> others_;  // that are not for the binary
  std::string binary_name_;
  std::chrono::year_month_day today_;
};

}  // namespace leakgate
