#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "runner/report/formats/issue.h"
#include "runner/report/formats/make_writer.h"
#include "runner/report/formats/writers.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

const char* SeverityOf(const Issue& issue) {
  if (issue.level == Level::kNote) return "info";
  if (issue.level == Level::kWarning) return "minor";
  const bool is_corruption = issue.rule == Rule::kMismatchedFree || issue.rule == Rule::kDoubleFree;
  return is_corruption ? "critical" : "major";
}

Json Location(const FilePosition& position, const RunResult& run) {
  return {{"path", position.file.empty() ? run.binary : position.file},
          {"lines", {{"begin", std::max(position.line, 1)}}}};
}

class GitlabWriter {
 public:
  GitlabWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), root_(surroundings.source_root) {
    out_ << "[";
  }

  void Add(const RunResult& run) {
    VisitIssues(run, root_, [&](const Issue& issue) {
      if (issue.is_allowed) return;
      Write({{"description", issue.title},
             {"check_name", std::string(RuleId(issue.rule))},
             {"fingerprint", fmt::format("{}:{}", issue.fingerprint, issue.ordinal)},
             {"severity", SeverityOf(issue)},
             {"location", Location(issue.position, run)}});
    });
    for (const Doubt& doubt : Doubts(run)) {
      const FilePosition position =
          doubt.window == nullptr ? FilePosition{} : PositionOf(*doubt.window, root_);
      Write({{"description", "inconclusive: " + doubt.text},
             {"check_name", "leakgate.inconclusive"},
             {"fingerprint", FingerprintOf({"leakgate.inconclusive", run.binary, doubt.text})},
             {"severity", run.mode == GateMode::kWarnOnly ? "minor" : "major"},
             {"location", Location(position, run)}});
    }
  }

  void Finish() { out_ << (seen_.empty() ? "]\n" : "\n]\n"); }

 private:
  // GitLab takes the first issue of a fingerprint only.
  void Write(const Json& issue) {
    const bool is_first = seen_.empty();
    if (!seen_.insert(issue.at("fingerprint").get<std::string>()).second) return;
    out_ << (is_first ? "\n" : ",\n") << issue.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::ostream& out_;
  std::string root_;
  std::set<std::string> seen_;
};

}  // namespace

ReportWriter NewGitlabWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<GitlabWriter>(out, surroundings);
}

}  // namespace leakgate
