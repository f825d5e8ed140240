// The budget files that `leakgate adopt --budgets DIR` writes, one for each component.
//
// The component of a test is the folder that its source lies in: the one that CODEOWNERS names, or
// else the first below DIR. Its file lies there, so that it covers the tests of that folder, of all
// binaries. With DIR = src:
//
//   src/net/http_test.cc       src/net/net.leakgate.json
//   src/net/tls/cert_test.cc   the same, unless CODEOWNERS names src/net/tls/
//   src/all_test.cc            src/src.leakgate.json
//   gen/made_test.cc           none: a baseline has what it leaves
//
// Allowances for what suppressions of other tools cover have these as their reasons. Without DIR,
// one file has them: its component is all tests of all binaries. What else an allowance would take
// in the same test, such as the blocks to which a suppressed one led, goes with it.
//
// Used by one thread.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/attribution/suppressions.h"
#include "runner/base/expected.h"
#include "runner/budget/codeowners.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/result/run_result.h"

namespace leakgate {

class ComponentBudgets {
 public:
  // Fails with a usage error if `directory` is none, or has budget files already.
  [[nodiscard]] static Expected<ComponentBudgets> In(const std::filesystem::path& directory);

  // Has one file, which must not exist, for what suppressions cover; the rest is for a baseline.
  [[nodiscard]] static ComponentBudgets OneFile(std::filesystem::path file) {
    return {std::move(file), Split::kNone};
  }

  // Takes the reasons of suppressions, which must outlive this.
  void UseReasonsOf(Suppressions& suppressions) { suppressions_ = &suppressions; }

  // Returns what `leakgate run --budgets` has to be given: the directory, or the one file.
  const std::filesystem::path& place() const { return place_; }
  [[nodiscard]] bool IsOneFile() const { return split_ == Split::kNone; }

  // Notes the tests that `binary` has. Fails if a component's file could not be written. Comes
  // before all that follows.
  [[nodiscard]] Expected<void> AddTests(const std::string& binary, const TestSources& tests);

  // Accepts what tests of `binary` fail for. Returns what of that no budget file can have: no
  // component is known, no function, or it is no memory.
  [[nodiscard]] RunResult Accept(const std::string& binary, const RunResult& run);

  // Writes the file of each component.
  [[nodiscard]] Expected<void> Write();

  // Returns what is accepted, by component and cause.
  [[nodiscard]] std::string Text(const std::string& base_directory) const;

  // Returns whether any file is to be written: one for each component, but the one file for
  // suppressions only if they cover something.
  [[nodiscard]] bool HasFiles() const { return IsOneFile() ? HasCauses() : !components_.empty(); }
  // Returns whether any component has accepted something.
  [[nodiscard]] bool HasCauses() const;

 private:
  using Pattern = std::vector<std::string>;
  struct Component {
    std::string name;
    std::string owner;                   // empty: not known
    std::filesystem::path file;          // as shown
    std::set<std::string> suites;        // filters for all of its tests
    std::deque<WindowResult> failing{};  // of all runs, the iteration is the number of the run
    // Which tests an earlier file has for a pattern, and the patterns that other tests needed
    // later: who leaves those differs from run to run.
    std::map<Pattern, std::set<std::string>> seen_tests{};
    std::set<Pattern> moving{};
  };
  // By the folder, relative to the directory.
  using Components = std::map<std::filesystem::path, Component>;

  enum class Split { kByFolders, kNone };
  ComponentBudgets(std::filesystem::path place, Split split);

  // Returns the component of a source file, which is made if it is new; null if there is none.
  [[nodiscard]] Component* ComponentOfSource(const std::string& source);
  // Notes what of the window suppressions cover.
  void FindSuppressed(const WindowResult& window);
  // Returns the reason of the suppression that covers the finding, or whose allowance would take it
  // too; empty if there is none.
  [[nodiscard]] std::string SuppressedFor(const WindowResult& window, const Finding& finding) const;
  // Returns whether an allowance is to have the finding.
  [[nodiscard]] bool HasEntry(const WindowResult& window, const Finding& finding) const;
  [[nodiscard]] WindowResult OnlyEntries(WindowResult window) const;
  [[nodiscard]] WindowResult WithoutEntries(WindowResult window) const;
  // Returns null if no component can be told.
  [[nodiscard]] Component* ComponentOf(const std::string& binary, const WindowResult& window);
  [[nodiscard]] std::string FileText(Component& component) const;

  std::filesystem::path place_;  // as given
  Split split_;
  std::filesystem::path resolved_;  // the directory
  Suppressions* suppressions_ = nullptr;
  // The reasons of the allowances that suppressions make, by the tests that have them.
  std::map<std::string, std::map<Pattern, std::string>> suppressed_;
  std::optional<FoundCodeowners> codeowners_;
  Components components_;
  // By binary, and then by the name of the test or suite. A suite of several has none.
  std::map<std::string, std::map<std::string, Component*>> tests_;
  bool has_tests_elsewhere_ = false;
  int runs_ = 0;
};

}  // namespace leakgate
