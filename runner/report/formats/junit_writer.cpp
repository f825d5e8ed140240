#include "runner/report/formats/junit_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "runner/report/excess.h"
#include "runner/report/formats/call_site.h"
#include "runner/report/formats/make_writer.h"
#include "runner/report/formats/report_text.h"
#include "runner/report/json_words.h"
#include "runner/report/program_exit_text.h"
#include "runner/report/text_report.h"
#include "runner/report/window_name.h"

namespace leakgate {
namespace {

enum class Outcome { kPassed, kFailed, kError, kSkipped };

// What a test case's element says.
struct Case {
  std::string suite;
  std::string name;
  FilePosition position;  // where the test is defined
  Outcome outcome = Outcome::kPassed;
  std::string type;     // of a failure or an error: "leakgate.over_budget"
  std::string message;  // of the same, one line
  std::string text;     // likewise, as many as it takes
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
  const std::size_t dot = window.name.find('.');
  return (dot == std::string::npos ? window.name : window.name.substr(dot + 1)) + iteration;
}

void AddAmount(Case& test, const std::string& name, Amount amount) {
  test.properties.emplace_back(name + "_bytes", std::to_string(amount.bytes));
  test.properties.emplace_back(name + "_blocks", std::to_string(amount.blocks));
}

void AddProperties(Case& test, const WindowResult& window) {
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

// "128 B in 2 blocks lost, budget 0 B; ...".
std::string OverBudgetMessage(const WindowResult& window) {
  std::vector<std::string> parts;
  for (const FreeErrorResult& error : window.free_errors) parts.push_back(error.text);
  for (const Excess& excess : Excesses(window)) {
    parts.push_back(fmt::format("{}, {}", excess.amount, excess.budget));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void Set(Case& test, Outcome outcome, std::string type, std::string message) {
  test.outcome = outcome;
  test.type = std::move(type);
  test.message = std::move(message);
}

// What GoogleTest says of the test. Its stream of events does not tell failed from
// skipped; a program that exits with 0 has no failed one.
void SetByGoogleTest(Case& test, const WindowResult& window, const RunResult& run) {
  const bool nothing_failed = run.program.exit_code == 0;
  switch (window.status) {
    case TestStatus::kFailed:
      return Set(test, Outcome::kFailed, "googletest.failed", "the test failed in GoogleTest");
    case TestStatus::kNotPassed:
      if (nothing_failed) return Set(test, Outcome::kSkipped, "", "");
      return Set(test, Outcome::kFailed, "googletest.not_passed",
                 "the test failed in GoogleTest, or was skipped; --gtest_output=xml:FILE tells");
    case TestStatus::kCrashed:
      return Set(test, Outcome::kError, "googletest.crashed",
                 "the program ended while the test ran");
    case TestStatus::kSkipped:
      return Set(test, Outcome::kSkipped, "", "");
    case TestStatus::kNone:
    case TestStatus::kPassed:
      break;
  }
}

// With the listener, the gate's own failure is what GoogleTest says, too.
bool FailedBesides(const WindowResult& window, const RunResult& run) {
  const bool failed =
      window.status == TestStatus::kFailed || window.status == TestStatus::kNotPassed;
  return failed && run.tracing.boundaries != BoundarySource::kListener;
}

// What leakgate says goes before what GoogleTest says: many readers take one failure only.
void SetByGate(Case& test, const WindowResult& window, const RunResult& run,
               const TextStyle& style) {
  const bool gates = run.mode != GateMode::kWarnOnly;
  if (window.verdict == Verdict::kOverBudget) {
    const std::string text = FailureText(window, style);
    if (!gates) {
      test.output = text;
      return;
    }
    Set(test, Outcome::kFailed, "leakgate.over_budget", OverBudgetMessage(window));
    test.text = FailureTextWithHeadline(window, style);
    if (FailedBesides(window, run)) test.text += "\n\nThe test failed in GoogleTest, too.";
  } else if (window.verdict == Verdict::kInconclusive) {
    if (!gates || test.outcome == Outcome::kError) {
      test.output = "inconclusive: " + window.reason;
      return;
    }
    Set(test, Outcome::kError, "leakgate.inconclusive", window.reason);
  } else if (window.verdict == Verdict::kUnconfirmed) {
    test.output = "unconfirmed: " + window.reason;
    if (run.mode == GateMode::kStrict) {
      Set(test, Outcome::kFailed, "leakgate.unconfirmed", window.reason);
    }
  }
}

// Suites and the program are told of where there is something to tell.
bool IsTold(const WindowResult& window) {
  return window.kind == WindowKind::kTest ||
         (window.verdict != Verdict::kPass && window.verdict != Verdict::kNotGated);
}

Case CaseOf(const WindowResult& window, const RunResult& run, const std::string& root) {
  Case test;
  test.suite = SuiteOf(window);
  test.name = CaseNameOf(window);
  test.position = PositionOf(window, root);
  AddProperties(test, window);
  SetByGoogleTest(test, window, run);
  SetByGate(test, window, run, {Colour::kOff, root});
  return test;
}

std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What no window tells: why the whole run fails, or measured nothing.
std::vector<Case> CasesOfRun(const RunResult& run) {
  if (run.mode == GateMode::kWarnOnly) return {};
  std::vector<Case> cases;
  const auto add = [&](Outcome outcome, const std::string& type,
                       const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    Case test;
    test.suite = FileName(run.binary);
    test.name = "(run: " + type.substr(type.find('.') + 1) + ")";
    Set(test, outcome, type, lines.front());
    test.text = fmt::format("{}", fmt::join(lines, "\n"));
    cases.push_back(std::move(test));
  };
  add(Outcome::kError, "leakgate.inconclusive", run.reasons);
  add(Outcome::kFailed, "leakgate.budget_entry", run.failures);
  if (run.mode == GateMode::kStrict) add(Outcome::kFailed, "leakgate.warning", run.warnings);
  return cases;
}

bool IsBad(const Case& test) {
  return test.outcome == Outcome::kFailed || test.outcome == Outcome::kError;
}

// Of a run that does not exit with 0, though no test tells why.
Case CaseOfExit(const RunResult& run) {
  Case test;
  test.suite = FileName(run.binary);
  test.name = "(run: exit)";
  Set(test, Outcome::kError, "program.exit",
      fmt::format("the program {}; leakgate exits with {}", ProgramExitText(run.program),
                  run.exit_code));
  return test;
}

std::string Attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, XmlAttribute(value));
}

std::string OutcomeElement(const Case& test) {
  if (test.outcome == Outcome::kPassed) return "";
  if (test.outcome == Outcome::kSkipped) return "   <skipped/>\n";
  const std::string_view element = test.outcome == Outcome::kFailed ? "failure" : "error";
  return fmt::format("   <{0}{1}{2}>{3}</{0}>\n", element, Attribute("message", test.message),
                     Attribute("type", test.type), XmlText(test.text));
}

std::string PropertiesElement(const Case& test) {
  if (test.properties.empty()) return "";
  std::string text = "   <properties>\n";
  for (const auto& [name, value] : test.properties) {
    text += "    <property" + Attribute("name", "leakgate." + name) + Attribute("value", value) +
            "/>\n";
  }
  return text + "   </properties>\n";
}

std::string CaseElement(const Case& test) {
  std::string opening = "  <testcase" + Attribute("classname", test.suite) +
                        Attribute("name", test.name) + Attribute("time", "0");
  if (!test.position.file.empty()) opening += Attribute("file", test.position.file);
  if (test.position.line != 0) opening += Attribute("line", std::to_string(test.position.line));
  std::string content = PropertiesElement(test) + OutcomeElement(test);
  if (!test.output.empty()) content += "   <system-out>" + XmlText(test.output) + "</system-out>\n";
  return opening + (content.empty() ? "/>\n" : ">\n" + content + "  </testcase>\n");
}

std::string SuiteElement(const std::string& name, const std::vector<Case>& cases) {
  const auto count = [&](Outcome outcome) {
    return std::to_string(std::count_if(cases.begin(), cases.end(),
                                        [&](const Case& test) { return test.outcome == outcome; }));
  };
  std::string text =
      " <testsuite" + Attribute("name", name) + Attribute("tests", std::to_string(cases.size())) +
      Attribute("failures", count(Outcome::kFailed)) + Attribute("errors", count(Outcome::kError)) +
      Attribute("skipped", count(Outcome::kSkipped)) + ">\n";
  for (const Case& test : cases) text += CaseElement(test);
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
    std::map<std::string, std::vector<Case>> suites;
    const auto add = [&](Case test) {
      if (!suites.contains(test.suite)) order.push_back(test.suite);
      suites[test.suite].push_back(std::move(test));
    };
    for (const WindowResult& window : run.windows) {
      if (IsTold(window)) add(CaseOf(window, run, root_));
    }
    for (Case& test : CasesOfRun(run)) add(std::move(test));
    const bool is_told = std::any_of(suites.begin(), suites.end(), [](const auto& suite) {
      return std::any_of(suite.second.begin(), suite.second.end(), IsBad);
    });
    if (run.exit_code != 0 && !is_told) add(CaseOfExit(run));
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
