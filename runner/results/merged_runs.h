// Merges the results of many runs. They are added one by one, in any order: the outcome does not
// depend on it, and a run that is added again changes nothing.
//
// Of a run its place is kept, and what it is sorted by; of a test only a few bytes. Lines for
// people are kept up to a limit, and counted beyond it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/report/style.h"
#include "runner/results/merged_causes.h"
#include "runner/results/result_file.h"

namespace leakgate {

// Texts, each with the names of the first few places that it is true of.
class CountedLines {
 public:
  void Add(const std::string& text, const std::string& where);

  // Returns lines such as "TEXT (WHERE; WHERE; WHERE and 3 more)", sorted by text.
  [[nodiscard]] std::vector<std::string> Lines() const;
  [[nodiscard]] bool empty() const { return where_.empty(); }

 private:
  struct Where {
    std::set<std::string> first;
    std::int64_t count = 0;
  };
  std::map<std::string, Where> where_;
  std::int64_t left_out_ = 0;
};

// A window that is over budget in some runs, with its result in the worst of them.
struct MergedFailure {
  WindowResult window;  // without its findings
  std::int64_t runs = 0;
};

struct MergedRun {
  std::string binary;
  std::vector<std::string> arguments;
  std::optional<Shard> shard;
  RunPlace place;
};

class MergedRuns {
 public:
  void Add(RunResult&& run, const RunPlace& place);

  // Returns the runs, sorted by binary, arguments, shard and content.
  [[nodiscard]] std::vector<const MergedRun*> Sorted() const;

  // Counts the tests by verdict. The worst of all runs is the verdict of a test.
  [[nodiscard]] std::map<Verdict, std::int64_t> CountTests() const;  // without those skipped
  [[nodiscard]] std::int64_t CountSkippedTests() const;              // in each run
  [[nodiscard]] std::size_t CountBinaries() const { return binaries_.size(); }
  [[nodiscard]] std::size_t size() const { return runs_.size(); }

  // Returns lines such as "of the 4 shards of BINARY, no result of 3".
  [[nodiscard]] std::vector<std::string> MissingShards() const;
  // Returns lines such as "HttpTest.KeepAlive (BINARY): pass, over budget in different runs".
  [[nodiscard]] std::vector<std::string> FlakyTests() const;

  [[nodiscard]] const MergedCauses& causes() const { return causes_; }

  // The component, the binary and the name of the window.
  using FailureKey = std::tuple<std::string, std::string, std::string>;
  [[nodiscard]] const std::map<FailureKey, MergedFailure>& failures() const { return failures_; }
  [[nodiscard]] std::int64_t failures_left_out() const { return failures_left_out_; }
  [[nodiscard]] const CountedLines& over_budget() const { return over_budget_; }
  [[nodiscard]] const CountedLines& inconclusive() const { return inconclusive_; }
  [[nodiscard]] const CountedLines& unconfirmed() const { return unconfirmed_; }
  [[nodiscard]] const CountedLines& ended_badly() const { return ended_badly_; }
  [[nodiscard]] std::int64_t repeated() const { return repeated_; }
  [[nodiscard]] std::int64_t warn_only() const { return warn_only_; }

  // Return how many runs failed, and how many are inconclusive. What a run with --warn-only found
  // does not count, but a failure of its program counts, and so does its timeout.
  [[nodiscard]] std::int64_t failed() const { return failed_; }
  [[nodiscard]] std::int64_t not_measured() const { return not_measured_; }

 private:
  struct TestState {
    std::uint8_t verdicts = 0;  // a bit for each verdict that a run gave, or for none: skipped
  };
  using TestKey = std::uint64_t;  // a hash of binary and name
  // Shards belong together if binary, chosen tests and total are the same.
  using ShardKey = std::tuple<std::string, std::vector<std::string>, int>;

  void AddVerdict(const RunResult& run, const std::string& where);
  void AddTests(const RunResult& run);
  void AddFailure(const RunResult& run, const WindowResult& window);

  std::map<RunContent, MergedRun> runs_;  // by content
  std::set<std::string> binaries_;
  std::unordered_map<TestKey, TestState> tests_;
  std::map<std::pair<std::string, std::string>, std::uint8_t> flaky_;  // by binary and test
  std::int64_t flaky_left_out_ = 0;
  std::map<ShardKey, std::set<int>> shards_;
  MergedCauses causes_;
  std::map<FailureKey, MergedFailure> failures_;
  std::int64_t failures_left_out_ = 0;
  CountedLines over_budget_;
  CountedLines inconclusive_;
  CountedLines unconfirmed_;
  CountedLines ended_badly_;
  std::int64_t repeated_ = 0;
  std::int64_t warn_only_ = 0;
  std::int64_t failed_ = 0;
  std::int64_t not_measured_ = 0;
};

struct MergeVerdict {
  // It is 1 if a run failed, else 3 if something or all was not measured, else 0.
  ExitCode exit_code = ExitCode::kInconclusive;
  std::vector<std::string> missing;  // further reasons for 3, which no run tells; one line each
};

// `expected` is the number of runs, if the user told it: with fewer, not all was measured.
[[nodiscard]] MergeVerdict VerdictOn(const MergedRuns& runs, std::optional<std::int64_t> expected);

// How many causes a summary names.
inline constexpr std::size_t kMostCauses = 10;

// Returns text in the form of a run's summary, with a trailing newline. `causes` are the largest of
// the runs, kMostCauses at most.
[[nodiscard]] std::string MergeSummary(const MergedRuns& runs, const MergeVerdict& verdict,
                                       const std::vector<Cause>& causes,
                                       const std::vector<std::string>& warnings,
                                       const TextStyle& style);

}  // namespace leakgate
