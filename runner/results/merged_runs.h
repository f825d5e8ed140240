// What many runs say together. Runs are added one by one, in any order; what they
// come to does not depend on it, and a run that is added again changes nothing.
//
// Kept of a run are its place and what it is sorted by; of a test, a few bytes.
// Lines for people are kept up to a limit, and counted beyond it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/report/style.h"
#include "runner/results/result_file.h"

namespace leakgate {

// Texts, each with what it holds for: the first few by name.
class CountedLines {
 public:
  void Add(const std::string& text, const std::string& where);

  // "TEXT (WHERE, WHERE and 3 more)", by text.
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

// A window that is over budget in some runs, as it was in the worst of them.
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

  // By binary, arguments, shard and content.
  [[nodiscard]] std::vector<const MergedRun*> Sorted() const;

  // What tests came to: the worst of all runs. Of each verdict, how many.
  [[nodiscard]] std::map<Verdict, std::int64_t> CountTests() const;
  [[nodiscard]] std::size_t CountBinaries() const { return binaries_.size(); }
  [[nodiscard]] std::size_t size() const { return runs_.size(); }

  // "shard 3 of 4 of BINARY is missing", one line each.
  [[nodiscard]] std::vector<std::string> MissingShards() const;
  // "HttpTest.KeepAlive (BINARY): pass in one run, over budget in another".
  [[nodiscard]] std::vector<std::string> FlakyTests() const;

  // By component, binary and name.
  using FailureKey = std::tuple<std::string, std::string, std::string>;
  [[nodiscard]] const std::map<FailureKey, MergedFailure>& failures() const { return failures_; }
  [[nodiscard]] std::int64_t failures_left_out() const { return failures_left_out_; }
  [[nodiscard]] const CountedLines& over_budget() const { return over_budget_; }
  [[nodiscard]] const CountedLines& inconclusive() const { return inconclusive_; }
  [[nodiscard]] const CountedLines& unconfirmed() const { return unconfirmed_; }
  [[nodiscard]] const CountedLines& ended_badly() const { return ended_badly_; }
  [[nodiscard]] std::int64_t repeated() const { return repeated_; }
  [[nodiscard]] std::int64_t warn_only() const { return warn_only_; }

  // A failed run, and one that is inconclusive. A run with --warn-only is neither for
  // what it found, but for a program that failed, and where it ran into its timeout.
  [[nodiscard]] std::int64_t failed() const { return failed_; }
  [[nodiscard]] std::int64_t not_measured() const { return not_measured_; }

 private:
  struct TestState {
    std::uint8_t verdicts = 0;  // of runs, a bit each
  };
  using TestKey = std::uint64_t;  // of binary and name
  // Which shards of what there are, by binary, the tests chosen, and total.
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
  // 1: a run failed; else 3: not all was measured, or nothing; else 0.
  ExitCode exit_code = ExitCode::kInconclusive;
  std::vector<std::string> missing;  // why, besides what the runs say; one line each
};

// `expected` runs, if that is known: fewer are not all.
[[nodiscard]] MergeVerdict VerdictOn(const MergedRuns& runs, std::optional<std::int64_t> expected);

// In the voice of a run's summary, with a trailing newline.
[[nodiscard]] std::string MergeSummary(const MergedRuns& runs, const MergeVerdict& verdict,
                                       const std::vector<std::string>& warnings, Colour colour);

}  // namespace leakgate
