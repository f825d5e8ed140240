#include "runner/report/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "runner/attribution/call_sites.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/finding_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// What of one window belongs to one cause.
struct CausePart {
  const WindowResult* window = nullptr;
  std::vector<const Finding*> findings;
  std::vector<const Finding*> mappings;
  std::vector<const FreeErrorResult*> errors;
  const TopAllocators* top = nullptr;  // what the test did too much of, most of it by one call site
  std::set<std::size_t> violations;
  Amount amount;
  bool is_led_from_other = false;  // all of it is lost with blocks of another window
};

// Whether blocks or mappings of its call site are over the limit.
bool HasSite(const CausePart& part) { return !part.findings.empty() || !part.mappings.empty(); }

using CauseParts = std::map<std::string, CausePart>;

class PartsOfWindow {
 public:
  PartsOfWindow(const WindowResult& window, const LosingSites& sites)
      : window_(window), sites_(sites) {
    if (window.verdict != Verdict::kOverBudget) return;
    for (const FreeErrorResult& error : window.free_errors) {
      if (error.baseline == BaselineState::kKnown) continue;
      At("freed\n" + error.text + '\n' + CallSiteKey(error.freed_at)).errors.push_back(&error);
    }
    for (const Finding& finding : window.findings) AddFinding(finding, &CausePart::findings);
    for (const Finding& finding : window.mappings) AddFinding(finding, &CausePart::mappings);
    AddUnexplained();
  }

  CauseParts Take() { return std::move(parts_); }

 private:
  CausePart& At(const std::string& key) {
    CausePart& part = parts_[key];
    part.window = &window_;
    return part;
  }

  void AddFinding(const Finding& finding, std::vector<const Finding*> CausePart::*list) {
    CausePart* part = nullptr;
    for (std::size_t i = 0; i < window_.violations.size(); ++i) {
      const Violation& violation = window_.violations[i];
      if (!Explains(finding, violation, window_)) continue;
      explained_.insert(i);
      if (part == nullptr) {
        part = &At(sites_.CauseKey(finding, violation));
        const bool is_led = sites_.AreLedFromOther(finding, violation);
        part->is_led_from_other = is_led && (part->is_led_from_other || !HasSite(*part));
        (part->*list).push_back(&finding);
        part->amount += finding.amount;
      }
      part->violations.insert(i);
    }
  }

  // Nothing tells whether such a limit is exceeded by the same code as in another test, unless most
  // is made by one call site.
  void AddUnexplained() {
    for (std::size_t i = 0; i < window_.violations.size(); ++i) {
      if (explained_.contains(i)) continue;
      const Violation& violation = window_.violations[i];
      const TopAllocators* const top = FindMainAllocator(window_, violation);
      CausePart& part =
          At(top != nullptr ? fmt::format("made\n{}\n{}", violation.component,
                                          CallSiteKey(top->sites.front().site))
                            : fmt::format("limit\n{}\n{}\n{}", Word(QuantityOf(violation)),
                                          violation.component, PlainWindowName(window_)));
      part.top = top;
      part.violations.insert(i);
      part.amount.bytes = std::max(part.amount.bytes, violation.amount.bytes);
    }
  }

  const WindowResult& window_;
  const LosingSites& sites_;
  CauseParts parts_;
  std::set<std::size_t> explained_;
};

void SetAmount(Amount amount, Violation& violation) {
  violation.amount = amount;
  if (UnitOf(violation.metric) == MetricUnit::kBytes) violation.actual = amount.bytes;
  if (UnitOf(violation.metric) == MetricUnit::kBlocks) violation.actual = amount.blocks;
}

// A limit that permits some is exceeded by all call sites together.
bool PermitsNothing(const Violation& violation) { return violation.limit.value == 0; }

Amount ExplainedBy(const CausePart& part, const Violation& violation) {
  Amount sum;
  for (const std::vector<const Finding*>* const list : {&part.findings, &part.mappings}) {
    for (const Finding* const finding : *list) {
      if (Explains(*finding, violation, *part.window)) sum += finding->amount;
    }
  }
  return sum;
}

// Adds those whose call sites are not there yet, and of the others keeps the larger.
void AddLargest(const std::vector<const Finding*>& findings, std::vector<Finding>& largest) {
  for (const Finding* const finding : findings) {
    const auto known = std::find_if(largest.begin(), largest.end(), [&](const Finding& it) {
      return CallSiteKey(it) == CallSiteKey(*finding);
    });
    if (known == largest.end()) {
      largest.push_back(*finding);
    } else if (known->amount.bytes < finding->amount.bytes) {
      *known = *finding;
    }
  }
}

struct GrowingCause {
  CausePart worst;
  Cause cause;  // without what is of the worst part
  std::unordered_set<std::string> names;
};

std::vector<Violation> ViolationsOf(const CausePart& part) {
  std::vector<Violation> violations;
  for (const std::size_t i : part.violations) {
    Violation& violation = violations.emplace_back(part.window->violations[i]);
    if (HasSite(part) && PermitsNothing(violation))
      SetAmount(ExplainedBy(part, violation), violation);
  }
  return violations;
}

// `has_site` tells whether the call site explains them.
void AddViolations(std::vector<Violation> violations, bool has_site, std::vector<Violation>& all) {
  for (Violation& violation : violations) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const Violation& one) {
      return one.metric == violation.metric && one.component == violation.component;
    });
    if (known == all.end()) {
      all.push_back(std::move(violation));
    } else if (has_site && PermitsNothing(violation)) {
      SetAmount(known->amount + violation.amount, *known);
    } else if (violation.actual > known->actual) {
      *known = std::move(violation);
    }
  }
}

// Returns the window with nothing but what belongs to `part`.
WindowResult Reduced(const CausePart& part) {
  WindowResult window = *part.window;
  window.findings.clear();
  window.mappings.clear();
  window.free_errors.clear();
  window.made_by.clear();
  window.measuring_windows.clear();
  window.framework = {};
  window.reach_problem.clear();
  if (HasSite(part) || !part.errors.empty()) window.left_behind.clear();
  for (const Finding* const finding : part.findings) window.findings.push_back(*finding);
  for (const Finding* const finding : part.mappings) window.mappings.push_back(*finding);
  for (const FreeErrorResult* const error : part.errors) window.free_errors.push_back(*error);
  window.violations = ViolationsOf(part);
  for (const TopAllocators& top : part.window->made_by) {
    const bool is_of = std::any_of(window.violations.begin(), window.violations.end(),
                                   [&](const Violation& it) { return IsOf(it, top.quantity); });
    if (is_of) window.made_by.push_back(top);
  }
  return window;
}

void AddWindow(const WindowResult& window, Cause& cause) {
  cause.windows.push_back(&window);
  ++cause.count;
  if (cause.first_names.size() < Cause::kNamed) cause.first_names.push_back(WindowName(window));
  cause.are_tests = cause.are_tests && window.kind == WindowKind::kTest;
}

template <typename T>
std::vector<std::size_t> IndicesIn(const std::vector<T>& all, const std::vector<const T*>& some) {
  std::vector<std::size_t> indices;
  for (const T* const one : some) indices.push_back(static_cast<std::size_t>(one - all.data()));
  return indices;
}

// Returns a finding of the cause's call site; nullptr if none explains it.
const Finding* SiteOf(const Cause& cause) {
  const WindowResult& window = cause.worst;
  if (!window.free_errors.empty()) return &window.free_errors.front().freed_at;
  if (!window.findings.empty()) return &window.findings.front();
  for (const Violation& violation : window.violations) {
    const TopAllocators* const top = FindMainAllocator(window, violation);
    if (top != nullptr) return &top->sites.front().site;
  }
  return window.mappings.empty() ? nullptr : &window.mappings.front();
}

// Returns the first limit that the finding is over; nullptr if it is over none.
const Violation* FirstExplained(const Finding& finding, const WindowResult& window) {
  const auto first =
      std::find_if(window.violations.begin(), window.violations.end(),
                   [&](const Violation& it) { return Explains(finding, it, window); });
  return first != window.violations.end() ? &*first : nullptr;
}

std::string KeyOf(const Violation& violation, const std::string& site) {
  return violation.component + '\n' + site;
}

}  // namespace

LosingSites::LosingSites(const std::vector<WindowResult>& windows) {
  // Mostly, nothing is lost with a block of another window: then no key of a call site is made.
  const auto has_led = [](const WindowResult& window) {
    return std::any_of(window.findings.begin(), window.findings.end(),
                       [](const Finding& finding) { return !finding.led_from.empty(); });
  };
  if (std::none_of(windows.begin(), windows.end(), has_led)) return;
  const auto for_each_lost = [&](Reach reach, const auto& use) {
    for (const WindowResult& window : windows) {
      if (window.verdict != Verdict::kOverBudget) continue;
      for (const Finding& finding : window.findings) {
        const Violation* const violation =
            finding.reach == reach ? FirstExplained(finding, window) : nullptr;
        if (violation != nullptr) use(finding, *violation, window.kind);
      }
    }
  };
  for_each_lost(Reach::kLost,
                [&](const Finding& finding, const Violation& violation, WindowKind window) {
                  if (window == WindowKind::kTest) return;
                  led_to_.try_emplace(KeyOf(violation, CallSiteKey(finding)));
                });
  for_each_lost(Reach::kIndirectlyLost,
                [&](const Finding& finding, const Violation& violation, WindowKind) {
                  const auto led = led_to_.find(KeyOf(violation, LedFromKey(finding)));
                  if (led != led_to_.end()) led->second += finding.amount;
                });
}

std::string LosingSites::CauseKey(const Finding& finding, const Violation& violation) const {
  return KeyOf(violation,
               AreLedFromOther(finding, violation) ? LedFromKey(finding) : CallSiteKey(finding));
}

bool LosingSites::AreLedFromOther(const Finding& finding, const Violation& violation) const {
  return !finding.led_from.empty() && led_to_.contains(KeyOf(violation, LedFromKey(finding)));
}

Amount LosingSites::LedTo(const std::string& key) const {
  const auto led = led_to_.find(key);
  return led != led_to_.end() ? led->second : Amount{};
}

std::vector<Cause> CollectCauses(const std::vector<WindowResult>& windows) {
  const LosingSites sites(windows);
  std::vector<GrowingCause> growing;
  std::unordered_map<std::string, std::size_t> index;
  for (const WindowResult& window : windows) {
    CauseParts parts = PartsOfWindow(window, sites).Take();
    for (auto& [key, part] : parts) {
      const auto [known, is_new] = index.try_emplace(key, growing.size());
      if (is_new) growing.emplace_back();
      GrowingCause& grown = growing[known->second];
      grown.cause.key = key;
      grown.cause.amount += part.amount;
      AddViolations(ViolationsOf(part), HasSite(part), grown.cause.violations);
      if (grown.names.insert(PlainWindowName(window)).second) AddWindow(window, grown.cause);
      if (part.is_led_from_other) AddLargest(part.findings, grown.cause.led_findings);
      const auto rank = [](const CausePart& it) {
        return std::pair(!it.is_led_from_other, it.amount.bytes);
      };
      if (!is_new && rank(part) <= rank(grown.worst)) continue;
      grown.worst = std::move(part);
    }
  }
  std::vector<Cause> causes;
  for (GrowingCause& grown : growing) {
    grown.cause.worst = Reduced(grown.worst);
    grown.cause.worst_amount = grown.worst.amount;
    grown.cause.whole = grown.worst.window;
    grown.cause.led_to = sites.LedTo(grown.cause.key);
    causes.push_back(std::move(grown.cause));
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [](const Cause& a, const Cause& b) { return a.amount.bytes > b.amount.bytes; });
  return causes;
}

void AddTotals(const Cause& cause, Cause& total) {
  const bool has_site = !cause.worst.findings.empty() || !cause.worst.mappings.empty();
  total.amount += cause.amount;
  total.led_to += cause.led_to;
  total.are_tests = total.are_tests && cause.are_tests;
  AddViolations(cause.violations, has_site, total.violations);
}

std::vector<WindowCause> CausesOf(const WindowResult& window, const LosingSites& sites) {
  std::vector<WindowCause> causes;
  for (auto& [key, part] : PartsOfWindow(window, sites).Take()) {
    causes.push_back({.key = key,
                      .has_site = HasSite(part) || !part.errors.empty() || part.top != nullptr,
                      .is_led_from_other = part.is_led_from_other,
                      .findings = IndicesIn(window.findings, part.findings),
                      .mappings = IndicesIn(window.mappings, part.mappings),
                      .free_errors = IndicesIn(window.free_errors, part.errors),
                      .violations = {part.violations.begin(), part.violations.end()},
                      .entries = EntriesFor(Reduced(part))});
  }
  return causes;
}

std::string ReportedCauses::FindOrAdd(const WindowResult& window) {
  std::string first;
  bool is_reported = true;
  for (const auto& [key, part] : PartsOfWindow(window, LosingSites({})).Take()) {
    const auto [known, is_new] = reported_.try_emplace(key, WindowName(window));
    is_reported = is_reported && !is_new;
    if (first.empty()) first = known->second;
  }
  return is_reported ? first : "";
}

WindowResult InAllWindows(const Cause& cause) {
  WindowResult window = cause.worst;
  window.violations = cause.violations;
  return window;
}

std::string WindowCountText(const Cause& cause) {
  return FormatCount(cause.count, cause.are_tests ? "test" : "place");
}

std::vector<std::string> SiteTexts(const std::vector<Cause>& causes,
                                   const std::string& base_directory) {
  std::vector<std::string> texts;
  std::map<std::string, int> uses;
  for (const Cause& cause : causes) {
    const Finding* const finding = SiteOf(cause);
    texts.push_back(finding == nullptr ? "" : ReadableCallSite(*finding));
    ++uses[texts.back()];
  }
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const bool is_ambiguous = !texts[i].empty() && uses[texts[i]] > 1;
    if (is_ambiguous) texts[i] = DescribeCallSite(*SiteOf(causes[i]));
    texts[i] = WithRelativePaths(texts[i], base_directory);
  }
  return texts;
}

}  // namespace leakgate
