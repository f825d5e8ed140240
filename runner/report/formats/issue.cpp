#include "runner/report/formats/issue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/leak_identity.h"
#include "runner/region/amount.h"
#include "runner/report/causes.h"
#include "runner/report/excess.h"
#include "runner/report/failure_text.h"
#include "runner/report/finding_text.h"
#include "runner/report/style.h"
#include "runner/report/window_text.h"
#include "runner/result/words.h"

namespace leakgate {
namespace {

Rule RuleOf(const Violation& violation) {
  if (IsOf(violation, Quantity::kLost)) return Rule::kLost;
  if (IsOf(violation, Quantity::kSteadyFileDescriptors)) return Rule::kOverLimit;
  if (IsOfGrowth(violation)) return Rule::kSteady;
  const bool is_of_blocks =
      IsOf(violation, Quantity::kOutstanding) || IsOf(violation, Quantity::kRetained);
  return is_of_blocks ? Rule::kOutstanding : Rule::kOverLimit;
}

std::string_view WordsOf(Rule rule) {
  if (rule == Rule::kLost) return "lost";
  if (rule == Rule::kSteady) return "retained, growing each time,";
  if (rule == Rule::kOverLimit) return "left mapped";
  return "outstanding";
}

// Returns, for each component, what is over in the window, such as
// "HttpTest.Get: 128 B in 2 blocks lost, budget 64 B (net.json:14)".
std::map<std::string, std::string> BudgetLines(const WindowResult& window,
                                               const std::string& root) {
  std::map<std::string, std::string> lines;
  for (const Excess& excess : Excesses(window)) {
    const std::string sources = SourcesText(excess);
    const std::string line = fmt::format("{}: {}{}", WindowName(window), ExcessText(excess),
                                         sources.empty() ? "" : " (" + sources + ")");
    lines[excess.component] += Printable(WithRelativePaths(line, root)) + '\n';
  }
  return lines;
}

std::string QuantityText(Amount amount, bool is_mapped) {
  return is_mapped ? FormatMapped(amount) : FormatAmount(amount);
}

std::string Quantity(const Finding& finding) {
  return QuantityText(finding.amount, IsMapped(finding));
}

// Visits the issues of one window.
class WindowIssues {
 public:
  // What is lost with a block of another window is told there.
  WindowIssues(const RunResult& run, const WindowResult& window, const std::string& root,
               const LosingSites& sites, const std::function<void(const Issue&)>& visit)
      : run_(run),
        window_(window),
        sites_(sites),
        root_(root),
        visit_(visit),
        budget_lines_(BudgetLines(window, root)),
        remedy_(RemedyText(window)) {}

  void Visit() {
    for (const FreeErrorResult& error : window_.free_errors) {
      if (error.baseline != BaselineState::kKnown) VisitError(error);
    }
    std::vector<bool> is_explained(window_.violations.size());
    for (const Finding& finding : window_.findings) VisitFinding(finding, is_explained);
    for (const Finding& finding : window_.mappings) VisitFinding(finding, is_explained);
    VisitLimits(is_explained);
  }

 private:
  Level FailingLevel() const {
    return run_.mode == GateMode::kWarnOnly ? Level::kWarning : Level::kError;
  }

  std::string InWindow() const { return " in " + Printable(WindowName(window_)); }

  void VisitError(const FreeErrorResult& error) {
    Issue issue =
        New(error.text.starts_with("freed twice") ? Rule::kDoubleFree : Rule::kMismatchedFree);
    issue.error = &error;
    issue.finding = &error.freed_at;
    issue.words = Printable(error.text);
    issue.site = Printable(SiteName(error.freed_at));
    issue.title = Printable(error.text) + InWindow();
    issue.details = StackText(error.freed_at, Style());
    if (!error.made_at.stack.empty()) {
      issue.details += "  allocated at\n" + StackText(error.made_at, Style());
    }
    Place(issue, PositionOf(error.freed_at, root_));
    issue.fingerprint =
        SymbolicFingerprint(std::string(RuleId(issue.rule)), UserFrames(error.freed_at));
    visit_(issue);
  }

  void VisitFinding(const Finding& finding, std::vector<bool>& is_explained) {
    const Violation* first = nullptr;
    for (std::size_t i = 0; i < window_.violations.size(); ++i) {
      if (!Explains(finding, window_.violations[i], window_)) continue;
      is_explained[i] = true;
      if (first == nullptr) first = &window_.violations[i];
    }
    if (first != nullptr) {
      if (!sites_.AreLedFromOther(finding, *first)) VisitCounted(finding, *first);
      return;
    }
    // What a test holds that has not come to its end says nothing.
    const bool has_ended = window_.status != TestStatus::kCrashed;
    if (finding.disposition == Disposition::kUnconfirmed) {
      return has_ended ? VisitUnconfirmed(finding) : void();
    }
    if (finding.disposition == Disposition::kAllowed) VisitAllowed(finding);
  }

  void VisitCounted(const Finding& finding, const Violation& violation) {
    Issue issue = New(RuleOf(violation));
    SetTitle(issue, finding, WordsOf(issue.rule));
    issue.details = budget_lines_.at(violation.component);
    const Amount led_to = sites_.LedTo(sites_.CauseKey(finding, violation));
    if (finding.reach == Reach::kLost && led_to != Amount{}) {
      issue.details += fmt::format("  {} of other tests could be reached only through it\n",
                                   FormatAmount(led_to));
    }
    Finish(issue, finding);
    issue.details += "  " + Printable(remedy_) + '\n';
    visit_(issue);
  }

  void VisitUnconfirmed(const Finding& finding) {
    Issue issue = New(Rule::kUnconfirmed);
    if (run_.mode != GateMode::kStrict) issue.level = Level::kNote;
    SetTitle(issue, finding, "retained, unconfirmed,");
    Finish(issue, finding);
    visit_(issue);
  }

  void VisitAllowed(const Finding& finding) {
    const Rule heap_rule = IsLost(finding.reach) ? Rule::kLost : Rule::kOutstanding;
    Issue issue = New(IsMapped(finding) ? Rule::kOverLimit : heap_rule);
    issue.level = Level::kNote;
    issue.is_allowed = true;
    SetTitle(issue, finding, fmt::format("{}, allowed,", WordsOf(issue.rule)));
    Finish(issue, finding);
    visit_(issue);
  }

  // Visits the limits that no finding explains, one issue for each quantity.
  void VisitLimits(const std::vector<bool>& is_explained) {
    const std::vector<Excess> excesses = Excesses(window_);
    std::size_t excess = 0;
    for (std::size_t i = 0; i < window_.violations.size(); ++i) {
      const Violation& violation = window_.violations[i];
      const bool goes_on = i != 0 && IsOf(window_.violations[i - 1], QuantityOf(violation)) &&
                           window_.violations[i - 1].component == violation.component;
      if (goes_on) continue;
      const Excess& text = excesses.at(excess++);
      if (!is_explained[i]) VisitLimit(violation, text);
    }
  }

  void VisitLimit(const Violation& violation, const Excess& excess) {
    Issue issue = New(RuleOf(violation));
    issue.title = Printable(excess.amount) + InWindow();
    if (!excess.budget.empty()) issue.title += Printable(", " + excess.budget);
    issue.details = budget_lines_.at(violation.component);
    for (const std::string& left : window_.left_behind) {
      issue.details += Printable("left behind: " + left) + '\n';
    }
    if (const TopAllocators* const top = FindTopAllocators(violation, window_)) {
      constexpr std::size_t kShown = 3;
      issue.details += TopAllocatorsText(*top, kShown, Style());
    }
    issue.details += Printable(remedy_) + '\n';
    const std::string id = fmt::format("{} {}", RuleId(issue.rule), Word(QuantityOf(violation)));
    if (const TopAllocators* const top = FindMainAllocator(window_, violation)) {
      const Finding& site = top->sites.front().site;
      issue.finding = &site;
      issue.words = TopAllocatorsVerb(*top);
      issue.site = Printable(SiteName(site));
      Place(issue, PositionOf(site, root_));
      issue.fingerprint = SymbolicFingerprint(id, UserFrames(site));
    } else {
      Place(issue, {});
      issue.fingerprint = FingerprintOf({std::string(RuleId(issue.rule)),
                                         std::string(Word(QuantityOf(violation))), window_.name});
    }
    visit_(issue);
  }

  Issue New(Rule rule) const {
    Issue issue;
    issue.rule = rule;
    issue.level = FailingLevel();
    issue.window = &window_;
    return issue;
  }

  TextStyle Style() const { return {Colour::kOff, root_}; }

  static std::string SiteName(const Finding& finding) {
    const Frame* const site = CallSiteOf(finding);
    return site == nullptr ? "an unknown call site" : FrameName(*site);
  }

  // "64 B in 1 block lost by net::Pool::Grow in HttpTest.KeepAlive"
  void SetTitle(Issue& issue, const Finding& finding, std::string_view words) const {
    issue.words = words;
    issue.site = Printable(SiteName(finding));
    issue.title = fmt::format("{} {} by {}{}", Quantity(finding), words, issue.site, InWindow());
  }

  // Makes an issue with what all issues of findings have.
  void Finish(Issue& issue, const Finding& finding) const {
    issue.finding = &finding;
    issue.details += FindingText(finding, Style());
    if (!finding.allowance.empty()) {
      const std::string place = WithRelativePaths(finding.allowance, root_);
      issue.details += "  " + Printable("allowed by " + place) + '\n';
    }
    Place(issue, PositionOf(finding, root_));
    issue.fingerprint = SymbolicFingerprint(std::string(RuleId(issue.rule)), UserFrames(finding));
  }

  void Place(Issue& issue, const FilePosition& position) const {
    issue.position = position.file.empty() ? PositionOf(window_, root_) : position;
  }

  const RunResult& run_;
  const WindowResult& window_;
  const LosingSites& sites_;
  const std::string& root_;
  const std::function<void(const Issue&)>& visit_;
  const std::map<std::string, std::string> budget_lines_;
  const std::string remedy_;
};

// A line such as "net.json:3: the allowance ...", taken apart.
struct PlacedLine {
  FilePosition position;
  std::string text;  // without the place
};

PlacedLine Split(const std::string& line, const std::string& root) {
  const std::size_t end = line.find(": ");
  const std::size_t colon = end == std::string::npos ? end : line.rfind(':', end - 1);
  if (colon == std::string::npos || colon == 0) return {{}, line};
  FilePosition position = {RelativePath(line.substr(0, colon), root), 0};
  const char* const last = line.data() + end;
  const auto [rest, error] = std::from_chars(line.data() + colon + 1, last, position.line);
  if (error != std::errc() || rest != last) return {{}, line};
  return {position, line.substr(end + 2)};
}

Issue EntryIssue(const std::string& line, Level level, const std::string& root) {
  const PlacedLine placed = Split(line, root);
  Issue issue;
  issue.rule = Rule::kBudgetEntry;
  issue.level = level;
  issue.title = Printable(line);
  issue.position = placed.position;
  issue.fingerprint =
      FingerprintOf({std::string(RuleId(issue.rule)), placed.position.file, placed.text});
  return issue;
}

}  // namespace

void VisitIssues(const RunResult& run, const std::string& root,
                 const std::function<void(const Issue&)>& visit) {
  std::set<std::string> seen;
  std::map<std::string, int> ordinals;  // in one iteration of one window
  const auto visit_once = [&](Issue issue) {
    issue.ordinal = ++ordinals[issue.fingerprint];
    const std::string name = issue.window == nullptr ? "" : PlainWindowName(*issue.window);
    const std::string key = fmt::format("{}:{} {}", issue.fingerprint, issue.ordinal, name);
    if (seen.insert(key).second) visit(issue);
  };
  const LosingSites sites(run.windows);
  for (const WindowResult& window : run.windows) {
    ordinals.clear();
    WindowIssues(run, window, root, sites, visit_once).Visit();
  }
  const bool fails_nothing = run.mode == GateMode::kWarnOnly;
  for (const std::string& line : run.failures) {
    visit_once(EntryIssue(line, fails_nothing ? Level::kWarning : Level::kError, root));
  }
  for (const std::string& line : run.warnings) {
    visit_once(
        EntryIssue(line, run.mode == GateMode::kStrict ? Level::kError : Level::kWarning, root));
  }
}

void IssueGroups::Add(const Issue& issue) {
  if (issue.is_allowed) return;
  const std::string place = fmt::format("{}:{}", issue.position.file, issue.position.line);
  const std::string site = issue.finding == nullptr ? issue.title : CallSiteKey(*issue.finding);
  const std::string key = fmt::format("{}\n{}\n{}\n{}", static_cast<int>(issue.level),
                                      issue.error == nullptr ? "" : issue.error->text, place, site);
  const auto [known, is_new] = index_.try_emplace(key, collected_.size());
  if (is_new) {
    Collected& added = collected_.emplace_back();
    added.group = {issue.rule, issue.level, issue.title, issue.details, issue.position};
    added.site = issue.site;
  }
  Collected& collected = collected_[known->second];
  const bool is_mapped = issue.finding != nullptr && IsMapped(*issue.finding);
  auto part = std::find_if(collected.parts.begin(), collected.parts.end(), [&](const auto& one) {
    return one.words == issue.words && one.is_mapped == is_mapped;
  });
  if (part == collected.parts.end()) {
    collected.parts.push_back({issue.words, {}, is_mapped});
    part = collected.parts.end() - 1;
  }
  if (issue.finding != nullptr && issue.error == nullptr) {
    part->amount += issue.finding->amount;
    collected.bytes += issue.finding->amount.bytes;
  }
  if (issue.window == nullptr) return;
  std::string name = PlainWindowName(*issue.window);
  collected.are_tests = collected.are_tests && issue.window->kind == WindowKind::kTest;
  const bool is_told = !collected.windows.empty() && collected.windows.back() == name;
  if (!is_told) collected.windows.push_back(std::move(name));
}

std::string IssueGroups::TitleOf(const Collected& cause) {
  const auto count = static_cast<std::int64_t>(cause.windows.size());
  if (count < 2 || cause.site.empty()) return cause.group.title;
  std::vector<std::string> parts;
  for (const auto& part : cause.parts) {
    if (!parts.empty() && parts.back().ends_with(',')) parts.back().pop_back();
    const bool has_amount = !(part.amount == Amount{});
    parts.push_back(has_amount ? QuantityText(part.amount, part.is_mapped) + " " + part.words
                               : part.words);
  }
  return fmt::format("{} by {} in {}: {}", fmt::join(parts, ", "), cause.site,
                     FormatCount(count, cause.are_tests ? "test" : "place"),
                     Printable(FirstNames(cause.windows)));
}

std::vector<IssueGroup> IssueGroups::Groups() const {
  std::vector<const Collected*> sorted;
  for (const Collected& one : collected_) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Collected* a, const Collected* b) {
    return std::pair(a->group.level, -a->bytes) < std::pair(b->group.level, -b->bytes);
  });
  std::vector<IssueGroup> groups;
  for (const Collected* const one : sorted) {
    groups.push_back(one->group);
    groups.back().title = TitleOf(*one);
  }
  return groups;
}

std::vector<Doubt> Doubts(const RunResult& run) {
  std::vector<Doubt> doubts;
  for (const std::string& reason : run.reasons) doubts.push_back({Printable(reason), nullptr});
  for (const WindowResult& window : run.windows) {
    if (window.verdict != Verdict::kInconclusive) continue;
    doubts.push_back({Printable(WindowName(window) + ": " + window.reason), &window});
  }
  return doubts;
}

}  // namespace leakgate
