#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "runner/report/formats/junit_case.h"
#include "runner/report/formats/make_writer.h"
#include "runner/report/formats/report_text.h"
#include "runner/report/formats/writers.h"

namespace leakgate {
namespace {

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
