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
// Used by one thread.
#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/codeowners.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/result/run_result.h"

namespace leakgate {

class ComponentBudgets {
 public:
  // Fails with a usage error if `directory` is none, or has budget files already.
  [[nodiscard]] static Expected<ComponentBudgets> In(const std::filesystem::path& directory);

  const std::filesystem::path& directory() const { return directory_; }

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

  // Returns whether any test has a component.
  [[nodiscard]] bool HasComponents() const { return !components_.empty(); }
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

  explicit ComponentBudgets(std::filesystem::path directory);

  // Returns the component of a source file, which is made if it is new; null if there is none.
  [[nodiscard]] Component* ComponentOfSource(const std::string& source);
  // Returns null if no component can be told.
  [[nodiscard]] Component* ComponentOf(const std::string& binary, const WindowResult& window);
  [[nodiscard]] std::string FileText(Component& component) const;

  std::filesystem::path directory_;  // as given
  std::filesystem::path resolved_;
  std::optional<FoundCodeowners> codeowners_;
  Components components_;
  // By binary, and then by the name of the test or suite. A suite of several has none.
  std::map<std::string, std::map<std::string, Component*>> tests_;
  bool has_tests_elsewhere_ = false;
  int runs_ = 0;
};

}  // namespace leakgate
