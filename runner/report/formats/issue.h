// An issue: one thing that a run holds against the code, at one place. Annotations,
// code scanning and code quality show a run as a list of these.
//
// A window over budget has an issue for each finding that counts. If no finding explains a limit
// that is exceeded (the peak, descriptors), it has one for the limit: at the call site that did
// most of it, where that is known, else at the test's definition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/report/formats/call_site.h"
#include "runner/result/run_result.h"

namespace leakgate {

// kError fails the run. kWarning would, but the run was told to fail nothing.
enum class Level { kError, kWarning, kNote };

struct Issue {
  Rule rule = Rule::kLost;
  Level level = Level::kError;
  const WindowResult* window = nullptr;    // nullptr: of the run
  const Finding* finding = nullptr;        // its stack; nullptr: none tells
  const FreeErrorResult* error = nullptr;  // of a freeing error
  std::string title;                       // one line: amount, what, in which test
  std::string words;        // the same without amount and test: "lost"; empty where no site tells
  std::string site;         // "net::Pool::Grow"
  std::string details;      // lines: budget, holder, stack, remedy; may be empty
  FilePosition position;    // file empty: nowhere
  std::string fingerprint;  // symbolic: of the rule and the call site
  int ordinal = 1;          // among those of the same window and fingerprint
  bool is_allowed = false;  // an allowance covers it: it fails nothing
};

// Calls `visit` once with each issue of `run`, in the order of the run. An issue that recurs in
// several iterations of a test is visited for the first. Texts are printable, paths relative to
// `root`. The pointers are into `run`.
void VisitIssues(const RunResult& run, const std::string& root,
                 const std::function<void(const Issue&)>& visit);

// The issues of one cause: of one level, at one call site, in any number of tests and runs.
struct IssueGroup {
  Rule rule = Rule::kLost;
  Level level = Level::kError;
  std::string title;      // one line: the amount of all, what, in which tests; printable
  std::string details;    // of the first issue; may be empty
  FilePosition position;  // file empty: nowhere
};

// Groups issues by cause. What an allowance covers is left out.
class IssueGroups {
 public:
  void Add(const Issue& issue);

  // Returns errors first, then warnings, then notes; of these those of most bytes first, and equal
  // ones in the order in which they were added.
  [[nodiscard]] std::vector<IssueGroup> Groups() const;

 private:
  struct Collected {
    IssueGroup group;  // its title is that of the first issue
    std::string site;
    struct Part {
      std::string words;
      Amount amount;
      bool is_mapped = false;
    };
    std::vector<Part> parts;  // by what is wrong
    std::int64_t bytes = 0;
    std::vector<std::string> windows;
    bool are_tests = true;
  };

  static std::string TitleOf(const Collected& cause);

  std::vector<Collected> collected_;
  std::map<std::string, std::size_t> index_;
};

// A reason why the run, or one of its windows, is inconclusive.
struct Doubt {
  std::string text;                      // one line, printable
  const WindowResult* window = nullptr;  // nullptr: of the run
};
[[nodiscard]] std::vector<Doubt> Doubts(const RunResult& run);

}  // namespace leakgate
