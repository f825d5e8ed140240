#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/report/causes.h"
#include "runner/report/excess.h"
#include "runner/report/failure_text.h"
#include "runner/report/formats/call_site.h"
#include "runner/report/formats/escaped_text.h"
#include "runner/report/formats/writers.h"
#include "runner/report/style.h"
#include "runner/report/window_text.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

enum class JunitOutcome { kPassed, kFailed, kError, kSkipped };

// What a test case's element says.
struct JunitCase {
  std::string suite;
  std::string name;
  FilePosition position;  // where the test is defined
  double seconds = 0;     // how long the test took; 0 for a suite or the program
  JunitOutcome outcome = JunitOutcome::kPassed;
  std::string type;     // of a failure or an error: "leakgate.over_budget"
  std::string message;  // of the same, one line
  std::string text;     // of the same, any number of lines
  std::string output;   // what the report says besides
  std::vector<std::pair<std::string, std::string>> properties;
};

std::string SuiteOf(const WindowResult& window) {
  if (window.kind != WindowKind::kTest) return window.name;
  return window.name.substr(0, window.name.find('.'));
}

std::string CaseNameOf(const WindowResult& window) {
  const std::string iteration =
      window.iteration > 1 ? " #" + std::to_string(window.iteration) : std::string();
  if (window.kind == WindowKind::kSuite) return "(suite)" + iteration;
  if (window.kind == WindowKind::kProgram) return "(program)" + iteration;
  if (window.kind == WindowKind::kProcess) {
    return (window.started_by.empty() ? "(process)" : "(process) of " + window.started_by) +
           iteration;
  }
  const std::size_t dot = window.name.find('.');
  return (dot == std::string::npos ? window.name : window.name.substr(dot + 1)) + iteration;
}

void AddAmount(JunitCase& test, const std::string& name, Amount amount) {
  if (amount == Amount{}) return;
  test.properties.emplace_back(name + "_bytes", std::to_string(amount.bytes));
  test.properties.emplace_back(name + "_blocks", std::to_string(amount.blocks));
}

void AddProperties(JunitCase& test, const WindowResult& window) {
  test.properties.emplace_back("verdict", Word(window.verdict));
  if (!window.budget->component.empty()) {
    test.properties.emplace_back("component", window.budget->component);
  }
  if (!window.budget->owner.empty()) test.properties.emplace_back("owner", window.budget->owner);
  AddAmount(test, "outstanding", window.outstanding);
  AddAmount(test, "lost", window.lost);
  AddAmount(test, "retained", window.retained);
  test.properties.emplace_back("peak_live_bytes", std::to_string(window.peak_live_bytes));
}

// Returns "128 B in 2 blocks lost; 64 KiB live at the peak, budget 32 KiB".
std::string OverBudgetMessage(const WindowResult& window) {
  std::vector<std::string> parts;
  for (const FreeErrorResult& error : window.free_errors) {
    if (error.baseline != BaselineState::kKnown) parts.push_back(error.text);
  }
  for (const Excess& excess : Excesses(window)) {
    parts.push_back(ExcessText(excess));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void Set(JunitCase& test, JunitOutcome outcome, std::string type, std::string message) {
  test.outcome = outcome;
  test.type = std::move(type);
  test.message = std::move(message);
}

// Sets the outcome by what GoogleTest says of the test. Its stream of events does not distinguish
// failed tests from skipped ones, but a program that exits with 0 has no failed one.
void SetByGoogleTest(JunitCase& test, const WindowResult& window, const RunResult& run) {
  const bool nothing_failed = run.program.exit_code == 0;
  switch (window.status) {
    case TestStatus::kFailed:
      return Set(test, JunitOutcome::kFailed, "googletest.failed", "the test failed in GoogleTest");
    case TestStatus::kNotPassed:
      if (nothing_failed) return Set(test, JunitOutcome::kSkipped, "", "");
      return Set(test, JunitOutcome::kFailed, "googletest.not_passed",
                 "the test failed in GoogleTest, or was skipped; --gtest_output=xml:FILE tells");
    case TestStatus::kCrashed:
      return Set(test, JunitOutcome::kError, "googletest.crashed",
                 "the program ended while the test ran");
    case TestStatus::kSkipped:
      return Set(test, JunitOutcome::kSkipped, "", "");
    case TestStatus::kNone:
    case TestStatus::kPassed:
      break;
  }
}

// Returns true if the test failed for another reason. With the listener, GoogleTest reports the
// gate's own failure, too.
bool FailedBesides(const WindowResult& window, const RunResult& run) {
  const bool failed =
      window.status == TestStatus::kFailed || window.status == TestStatus::kNotPassed;
  return failed && run.tracing.boundaries != BoundarySource::kListener;
}

// Sets the outcome by the verdict. It replaces GoogleTest's, because many readers take one failure.
void SetByGate(JunitCase& test, const WindowResult& window, const RunResult& run,
               const TextStyle& style) {
  const bool gates = run.mode != GateMode::kWarnOnly;
  if (window.verdict == Verdict::kOverBudget) {
    const std::string text = FailureText(window, style);
    if (!gates) {
      test.output = text;
      return;
    }
    Set(test, JunitOutcome::kFailed, "leakgate.over_budget", OverBudgetMessage(window));
    test.text = FailureTextWithHeadline(window, style);
    if (window.status == TestStatus::kCrashed) {
      test.text += "\n\nThe program ended while the test ran.";
    }
    if (FailedBesides(window, run)) test.text += "\n\nThe test failed in GoogleTest, too.";
  } else if (window.verdict == Verdict::kInconclusive) {
    const std::string reason = Printable(window.reason);
    if (!gates || test.outcome == JunitOutcome::kError) {
      test.output = "inconclusive: " + reason;
      return;
    }
    Set(test, JunitOutcome::kError, "leakgate.inconclusive", reason);
  } else if (window.verdict == Verdict::kUnconfirmed) {
    const std::string reason = Printable(window.reason);
    test.output = "unconfirmed: " + reason;
    if (run.mode == GateMode::kStrict) {
      Set(test, JunitOutcome::kFailed, "leakgate.unconfirmed", reason);
    }
  }
}

// Tests always have a case; suites and the program only if there is something to tell.
bool NeedsCase(const WindowResult& window) {
  return window.kind == WindowKind::kTest ||
         (window.verdict != Verdict::kPass && window.verdict != Verdict::kNotGated);
}

JunitCase CaseOf(const WindowResult& window, const RunResult& run, const std::string& root) {
  JunitCase test;
  test.suite = SuiteOf(window);
  test.name = CaseNameOf(window);
  test.position = PositionOf(window, root);
  if (window.kind == WindowKind::kTest) {
    test.seconds = std::chrono::duration<double>(window.end - window.begin).count();
  }
  AddProperties(test, window);
  SetByGoogleTest(test, window, run);
  SetByGate(test, window, run, {Colour::kOff, root});
  return test;
}

std::string BinaryName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Returns cases for the whole run: why it fails, or measured nothing.
std::vector<JunitCase> CasesOfRun(const RunResult& run) {
  if (run.mode == GateMode::kWarnOnly) return {};
  std::vector<JunitCase> cases;
  const auto add = [&](JunitOutcome outcome, const std::string& type,
                       const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    JunitCase test;
    test.suite = BinaryName(run.binary);
    test.name = "(run: " + type.substr(type.find('.') + 1) + ")";
    Set(test, outcome, type, Printable(lines.front()));
    for (const std::string& line : lines) {
      test.text += (test.text.empty() ? "" : "\n") + Printable(line);
    }
    cases.push_back(std::move(test));
  };
  add(JunitOutcome::kError, "leakgate.inconclusive", run.reasons);
  add(JunitOutcome::kFailed, "leakgate.budget_entry", run.failures);
  if (run.mode == GateMode::kStrict) add(JunitOutcome::kFailed, "leakgate.warning", run.warnings);
  return cases;
}

bool IsBad(const JunitCase& test) {
  return test.outcome == JunitOutcome::kFailed || test.outcome == JunitOutcome::kError;
}

// Returns a case for a run that does not exit with 0, although no test tells why.
JunitCase CaseOfExit(const RunResult& run) {
  JunitCase test;
  test.suite = BinaryName(run.binary);
  test.name = "(run: exit)";
  Set(test, JunitOutcome::kError, "program.exit",
      fmt::format("the program {}; leakgate exits with {}", ProgramExitText(run.program),
                  run.exit_code));
  return test;
}

// For a window, a line for each cause that fails others as well.
using SharedCauses = std::map<const WindowResult*, std::string>;

SharedCauses FindSharedCauses(const RunResult& run, const std::string& root) {
  SharedCauses shared;
  const std::vector<Cause> causes = CollectCauses(run.windows);
  const std::vector<std::string> sites = SiteTexts(causes, root);
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (causes[i].count < 2 || sites[i].empty()) continue;
    const std::string line =
        fmt::format("{} causes {}: {}", sites[i], FormatCount(causes[i].count, "failure"),
                    FirstNames(causes[i].first_names, causes[i].count));
    for (const WindowResult* const window : causes[i].windows) {
      shared[window] += Printable(line) + '\n';
    }
  }
  return shared;
}

// Returns the cases of `run`, in its order: of each test; of suites and the program if there is
// something to tell; of what no window tells. If the run does not exit with 0, one of them is no
// success. They are not made safe for XML.
std::vector<JunitCase> JunitCases(const RunResult& run, const std::string& root) {
  std::vector<JunitCase> cases;
  const SharedCauses shared = FindSharedCauses(run, root);
  for (const WindowResult& window : run.windows) {
    if (!NeedsCase(window)) continue;
    JunitCase& test = cases.emplace_back(CaseOf(window, run, root));
    const auto causes = shared.find(&window);
    if (causes == shared.end()) continue;
    std::string& text = test.outcome == JunitOutcome::kFailed ? test.text : test.output;
    text = causes->second + '\n' + text;
  }
  for (JunitCase& test : CasesOfRun(run)) cases.push_back(std::move(test));
  const bool is_told = std::any_of(cases.begin(), cases.end(), IsBad);
  if (run.exit_code != 0 && !is_told) cases.push_back(CaseOfExit(run));
  return cases;
}

std::string Attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, XmlAttribute(value));
}

std::string OutcomeElement(const JunitCase& test) {
  if (test.outcome == JunitOutcome::kPassed) return "";
  if (test.outcome == JunitOutcome::kSkipped) return "   <skipped/>\n";
  const std::string_view element = test.outcome == JunitOutcome::kFailed ? "failure" : "error";
  return fmt::format("   <{0}{1}{2}>{3}</{0}>\n", element, Attribute("message", test.message),
                     Attribute("type", test.type), XmlText(test.text));
}

std::string PropertiesElement(const JunitCase& test) {
  if (test.properties.empty()) return "";
  std::string text = "   <properties>\n";
  for (const auto& [name, value] : test.properties) {
    text += "    <property" + Attribute("name", "leakgate." + name) + Attribute("value", value) +
            "/>\n";
  }
  return text + "   </properties>\n";
}

std::string CaseElement(const JunitCase& test) {
  std::string opening = "  <testcase" + Attribute("classname", test.suite) +
                        Attribute("name", test.name) +
                        Attribute("time", fmt::format("{:.3f}", test.seconds));
  if (!test.position.file.empty()) opening += Attribute("file", test.position.file);
  if (test.position.line != 0) opening += Attribute("line", std::to_string(test.position.line));
  std::string content = PropertiesElement(test) + OutcomeElement(test);
  if (!test.output.empty()) content += "   <system-out>" + XmlText(test.output) + "</system-out>\n";
  return opening + (content.empty() ? "/>\n" : ">\n" + content + "  </testcase>\n");
}

std::string SuiteElement(const std::string& name, const std::vector<JunitCase>& cases) {
  const auto count = [&](JunitOutcome outcome) {
    return std::to_string(std::count_if(cases.begin(), cases.end(), [&](const JunitCase& test) {
      return test.outcome == outcome;
    }));
  };
  std::string text = " <testsuite" + Attribute("name", name) +
                     Attribute("tests", std::to_string(cases.size())) +
                     Attribute("failures", count(JunitOutcome::kFailed)) +
                     Attribute("errors", count(JunitOutcome::kError)) +
                     Attribute("skipped", count(JunitOutcome::kSkipped)) + ">\n";
  for (const JunitCase& test : cases) text += CaseElement(test);
  return text + " </testsuite>\n";
}

class JunitWriter {
 public:
  JunitWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), root_(surroundings.source_root) {
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"leakgate\">\n";
  }

  void Add(const RunResult& run) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<JunitCase>> suites;
    for (JunitCase& test : JunitCases(run, root_)) {
      if (!suites.contains(test.suite)) order.push_back(test.suite);
      suites[test.suite].push_back(std::move(test));
    }
    for (const std::string& suite : order) out_ << SuiteElement(suite, suites[suite]);
  }

  void Finish() { out_ << "</testsuites>\n"; }

 private:
  std::ostream& out_;
  std::string root_;
};

}  // namespace

ReportWriter NewJunitWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<JunitWriter>(out, surroundings);
}

}  // namespace leakgate
