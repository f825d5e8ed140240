#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runner/base/path_text.h"
#include "runner/base/word_table.h"
#include "runner/report/formats/escaped_text.h"
#include "runner/report/formats/issue.h"
#include "runner/report/formats/writers.h"
#include "runner/report/json/json_text.h"
#include "runner/report/style.h"
#include "runner/report/window_text.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInconclusive = "leakgate.inconclusive";

Json Message(std::string_view text) { return {{"text", std::string(text)}}; }

constexpr std::array kLevels = {
    Named{Level::kError, "error"},
    Named{Level::kWarning, "warning"},
    Named{Level::kNote, "note"},
};

Json RuleValue(Rule rule) {
  const bool is_note = rule == Rule::kUnconfirmed;
  return {{"id", std::string(RuleId(rule))},
          {"shortDescription", Message(RuleTitle(rule))},
          {"fullDescription", Message(RuleHelp(rule))},
          {"help", Message(RuleHelp(rule))},
          {"defaultConfiguration", {{"level", is_note ? "note" : "error"}}}};
}

Json Driver(const std::string& version) {
  Json rules = Json::array();
  for (int rule = 0; rule < kRuleCount; ++rule) rules.push_back(RuleValue(static_cast<Rule>(rule)));
  Json driver = {{"name", "leakgate"}};
  if (!version.empty()) driver["version"] = version;
  driver["rules"] = std::move(rules);
  driver["notifications"] =
      Json::array({{{"id", kInconclusive},
                    {"shortDescription", Message("Not everything was measured")},
                    {"fullDescription", Message("What could not be measured is never a pass.")},
                    {"help", Message("The message tells what could not be measured, and why.")}}});
  return {{"driver", std::move(driver)}};
}

// Relative paths are below the root. An absolute one needs no base.
Json ArtifactLocation(const std::string& path, bool has_root) {
  Json location = {{"uri", UriOf(path)}};
  if (has_root && !IsAbsolutePath(path)) location["uriBaseId"] = "SRCROOT";
  return location;
}

class Locations {
 public:
  explicit Locations(const std::string& root) : root_(root) {}

  Json Physical(const FilePosition& position) const {
    Json physical = {{"artifactLocation", ArtifactLocation(position.file, !root_.empty())}};
    if (position.line > 0) physical["region"] = {{"startLine", position.line}};
    return physical;
  }

  Json OfFrame(const Frame& frame) const {
    Json location = Json::object();
    const FilePosition position = PositionOfFrame(frame);
    if (!position.file.empty()) location["physicalLocation"] = Physical(position);
    location["logicalLocations"] =
        Json::array({{{"fullyQualifiedName", Printable(FrameName(frame))}, {"kind", "function"}}});
    location["message"] = Message(Printable(FrameName(frame)));
    return location;
  }

  // SARIF wants the innermost frame first.
  Json Stack(const Finding& finding, std::string_view message) const {
    Json frames = Json::array();
    for (const Frame& frame : finding.stack) {
      Json value = {{"location", OfFrame(frame)}};
      if (!frame.module.empty()) value["module"] = Printable(frame.module);
      frames.push_back(std::move(value));
    }
    return {{"message", Message(message)}, {"frames", std::move(frames)}};
  }

  // Returns the way from the test to the call site, through the user's own code. It is empty if
  // there is only one step.
  Json CodeFlows(const Finding& finding) const {
    Json steps = Json::array();
    const std::vector<const Frame*> frames = UserFrames(finding);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if ((*frame)->file.empty()) continue;
      steps.push_back({{"location", OfFrame(**frame)}});
    }
    if (steps.size() < 2) return Json::array();
    Json flow = {{"threadFlows", Json::array({{{"locations", std::move(steps)}}})}};
    return Json::array({std::move(flow)});
  }

 private:
  FilePosition PositionOfFrame(const Frame& frame) const {
    Finding alone;
    alone.stack = {frame};
    return PositionOf(alone, root_);
  }

  std::string root_;
};

Json Properties(const Issue& issue) {
  Json properties = Json::object();
  if (issue.window != nullptr) {
    properties["window"] = Printable(WindowName(*issue.window));
    const AppliedBudget& budget = *issue.window->budget;
    if (!budget.component.empty()) properties["component"] = Printable(budget.component);
    if (!budget.owner.empty()) properties["owner"] = Printable(budget.owner);
  }
  if (issue.finding != nullptr && issue.error == nullptr) {
    properties["bytes"] = issue.finding->amount.bytes;
    properties["blocks"] = issue.finding->amount.blocks;
    properties["disposition"] = Word(issue.finding->disposition);
  }
  return properties;
}

// An allowance of a budget file stands beside the code, one of the code's in it.
Json Suppression(const Finding& finding) {
  const bool is_in_source = finding.allowance.get().find(".json:") == std::string::npos;
  const std::string reason =
      finding.explanation.empty() ? "" : finding.explanation + " (" + finding.allowance + ")";
  Json suppression = {{"kind", is_in_source ? "inSource" : "external"}, {"status", "accepted"}};
  suppression["justification"] = Printable(reason.empty() ? finding.allowance.get() : reason);
  return suppression;
}

class SarifWriter {
 public:
  SarifWriter(std::ostream& out, const ReportSurroundings& surroundings)
      : out_(out), root_(surroundings.source_root), locations_(root_) {
    out_ << "{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
         << "\"version\": \"2.1.0\",\n\"runs\": [{\n"
         << "\"tool\": " << IndentedJson(Driver(surroundings.version)) << ",\n";
    if (!root_.empty()) {
      const Json bases = {
          {"SRCROOT", {{"uri", UriOf(root_.ends_with('/') ? root_ : root_ + "/")}}}};
      out_ << "\"originalUriBaseIds\": " << IndentedJson(bases) << ",\n";
    }
    out_ << "\"columnKind\": \"utf16CodeUnits\",\n\"results\": [";
  }

  void Add(const RunResult& run) {
    VisitIssues(run, root_, [&](const Issue& issue) { AddResult(Result(issue, run)); });
    invocations_.push_back(Invocation(run));
  }

  void Finish() { out_ << "\n],\n\"invocations\": " << IndentedJson(invocations_) << "\n}]\n}\n"; }

 private:
  void AddResult(const Json& result) {
    out_ << (has_results_ ? ",\n" : "\n") << CompactJson(result);
    has_results_ = true;
  }

  Json Result(const Issue& issue, const RunResult& run) const {
    Json result = {
        {"ruleId", std::string(RuleId(issue.rule))},
        {"ruleIndex", static_cast<int>(issue.rule)},
        {"level", WordIn(kLevels, issue.level)},
        {"message", Message(issue.title + (issue.details.empty() ? "" : "\n" + issue.details))},
        {"locations", Json::array({Location(issue, run)})}};
    const std::string fingerprint = fmt::format("{}:{}", issue.fingerprint, issue.ordinal);
    result["partialFingerprints"] = {{"primaryLocationLineHash", fingerprint},
                                     {"leakgateCallSite/v1", fingerprint}};
    AddStacks(issue, result);
    if (issue.is_allowed) result["suppressions"] = Json::array({Suppression(*issue.finding)});
    Json properties = Properties(issue);
    if (!properties.empty()) result["properties"] = std::move(properties);
    return result;
  }

  // Code scanning takes no result without a file, so the program is the last resort.
  Json Location(const Issue& issue, const RunResult& run) const {
    const bool is_known = !issue.position.file.empty();
    Json location = {
        {"physicalLocation",
         locations_.Physical(is_known ? issue.position : FilePosition{run.binary, 0})}};
    const Frame* const site = issue.finding == nullptr ? nullptr : CallSiteOf(*issue.finding);
    if (site != nullptr) {
      location["logicalLocations"] = Json::array(
          {{{"fullyQualifiedName", Printable(FrameName(*site))}, {"kind", "function"}}});
    }
    return location;
  }

  void AddStacks(const Issue& issue, Json& result) const {
    if (issue.finding == nullptr || issue.finding->stack.empty()) return;
    Json stacks = Json::array();
    stacks.push_back(locations_.Stack(*issue.finding, issue.error ? "freed at" : "allocated at"));
    if (issue.error != nullptr && !issue.error->made_at.stack.empty()) {
      stacks.push_back(locations_.Stack(issue.error->made_at, "allocated at"));
    }
    result["stacks"] = std::move(stacks);
    Json flows = locations_.CodeFlows(*issue.finding);
    if (!flows.empty()) result["codeFlows"] = std::move(flows);
  }

  Json Invocation(const RunResult& run) const {
    Json notifications = Json::array();
    for (const Doubt& doubt : Doubts(run)) {
      Json notification = {{"descriptor", {{"id", kInconclusive}, {"index", 0}}},
                           {"level", "error"},
                           {"message", Message(doubt.text)}};
      const FilePosition position =
          doubt.window == nullptr ? FilePosition{} : PositionOf(*doubt.window, root_);
      if (!position.file.empty()) {
        notification["locations"] =
            Json::array({{{"physicalLocation", locations_.Physical(position)}}});
      }
      notifications.push_back(std::move(notification));
    }
    Json invocation = {{"executableLocation", ArtifactLocation(run.binary, !root_.empty())},
                       {"arguments", run.arguments},
                       {"exitCode", run.exit_code}};
    if (run.program.signal) invocation["exitSignalNumber"] = *run.program.signal;
    invocation["executionSuccessful"] = run.verdict != Verdict::kInconclusive;
    if (!notifications.empty()) {
      invocation["toolExecutionNotifications"] = std::move(notifications);
    }
    return invocation;
  }

  std::ostream& out_;
  std::string root_;
  Locations locations_;
  bool has_results_ = false;
  Json invocations_ = Json::array();
};

}  // namespace

ReportWriter NewSarifWriter(std::ostream& out, const ReportSurroundings& surroundings) {
  return MakeWriter<SarifWriter>(out, surroundings);
}

}  // namespace leakgate
