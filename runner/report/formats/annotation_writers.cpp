#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "runner/attribution/leak_identity.h"
#include "runner/base/word_table.h"
#include "runner/report/formats/escaped_text.h"
#include "runner/report/formats/issue.h"
#include "runner/report/formats/writers.h"
#include "runner/report/json/json_text.h"

namespace leakgate {
namespace {

// Escapes what follows the second "::", as GitHub's own toolkit does.
std::string EscapedMessage(std::string_view text) {
  std::string escaped;
  for (const char c : PrintableLines(text)) {
    const bool is_special = c == '%' || c == '\n' || c == '\r';
    escaped +=
        is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped;
}

// Escapes what is before the second "::".
std::string EscapedProperty(std::string_view text) {
  std::string escaped;
  for (const char c : EscapedMessage(text)) {
    escaped += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  }
  return escaped;
}

constexpr std::array kCommands = {
    Named{Level::kError, "error"},
    Named{Level::kWarning, "warning"},
    Named{Level::kNote, "notice"},
};

std::string Command(Level level, const FilePosition& position, std::string_view title,
                    std::string_view message) {
  std::string properties;
  if (!position.file.empty()) properties += "file=" + EscapedProperty(position.file) + ",";
  if (position.line > 0) properties += fmt::format("line={},", position.line);
  properties += "title=" + EscapedProperty(title);
  return fmt::format("::{} {}::{}\n", WordIn(kCommands, level), properties,
                     EscapedMessage(message));
}

class GithubWriter {
 public:
  GithubWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), root_(surroundings.source_root) {}

  void Add(const RunResult& run) {
    VisitIssues(run, root_, [&](const Issue& issue) { issues_.Add(issue); });
    const bool fails = run.mode != GateMode::kWarnOnly;
    for (const Doubt& doubt : Doubts(run)) {
      const FilePosition position =
          doubt.window == nullptr ? FilePosition{} : PositionOf(*doubt.window, root_);
      doubts_ += Command(fails ? Level::kError : Level::kWarning, position, "Inconclusive",
                         "inconclusive: " + doubt.text);
    }
  }

  // GitHub shows ten of a step, so each is of a cause, and the largest come first.
  void Finish() {
    for (const IssueGroup& group : issues_.Groups()) {
      out_ << Command(group.level, group.position, RuleTitle(group.rule),
                      group.title + (group.details.empty() ? "" : "\n" + group.details));
    }
    out_ << doubts_;
  }

 private:
  std::ostream& out_;
  std::string root_;
  IssueGroups issues_;
  std::string doubts_;  // as commands
};

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
  // Of several issues with one fingerprint, GitLab takes only the first.
  void Write(const Json& issue) {
    const bool is_first = seen_.empty();
    if (!seen_.insert(issue.at("fingerprint").get<std::string>()).second) return;
    out_ << (is_first ? "\n" : ",\n") << CompactJson(issue);
  }

  std::ostream& out_;
  std::string root_;
  std::set<std::string> seen_;
};

}  // namespace

ReportWriter NewGithubWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<GithubWriter>(out, surroundings);
}

ReportWriter NewGitlabWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<GitlabWriter>(out, surroundings);
}

}  // namespace leakgate
