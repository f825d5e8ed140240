#include "runner/report/formats/rule.h"

#include <array>
#include <cstddef>

namespace leakgate {
namespace {

struct RuleText {
  std::string_view id;
  std::string_view title;
  std::string_view help;
};

constexpr std::array<RuleText, kRuleCount> kRules = {{
    {"leakgate.lost", "Lost memory",
     "Memory that a test allocated and nothing leads to any more. Free it, or own it by a smart "
     "pointer or container."},
    {"leakgate.steady", "Memory that grows with each repetition",
     "Memory that is still reachable, and of which the test, repeated alone, leaves more each "
     "time. "
     "Free it, bound the cache, or allow it in the component's budget file."},
    {"leakgate.outstanding", "Outstanding memory over budget",
     "Memory that a test allocated and had not freed at its end, more than the budget file of its "
     "component allows."},
    {"leakgate.over_limit", "A limit of the budget is exceeded",
     "A limit on something other than outstanding blocks, such as peak memory, mappings, file "
     "descriptors or threads."},
    {"leakgate.unconfirmed", "Retained memory that could not be told from a leak",
     "Memory that is still reachable, and the test could not be repeated alone to tell whether it "
     "grows. With --strict it fails the run."},
    {"leakgate.mismatched_free", "Memory freed by the wrong function",
     "Memory was freed by another family of functions than allocated it, such as new[] by free()."},
    {"leakgate.double_free", "Memory freed twice", "A block was freed that had been freed before."},
    {"leakgate.budget_entry", "A budget file's entry is out of date",
     "An override or an allowance has expired, or nothing used it. Remove it, or renew it."},
}};

const RuleText& TextOf(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

}  // namespace

std::string_view RuleId(Rule rule) { return TextOf(rule).id; }
std::string_view RuleTitle(Rule rule) { return TextOf(rule).title; }
std::string_view RuleHelp(Rule rule) { return TextOf(rule).help; }

}  // namespace leakgate
