#include "runner/run/asked_stacks.h"

#include <algorithm>
#include <iterator>

#include "runner/attribution/call_sites.h"
#include "runner/judge/window_verdict.h"
#include "runner/run/repetition.h"

namespace leakgate {
namespace {

// What the call that started a thread has made is the thread's, as long as it runs.
bool IsOfRunningThread(const WindowResult& window, const Finding& finding) {
  return std::any_of(window.mappings.begin(), window.mappings.end(), [&](const Finding& mapping) {
    return mapping.kind == AllocationKind::kThreadStack && IsToBeConfirmed(window, mapping) &&
           CallSiteKey(mapping) == CallSiteKey(finding);
  });
}

}  // namespace

AskedStack AskedOf(const Finding& finding) {
  return {SeriesKey(finding), CallStackKey(finding), finding.keeper};
}

const AskedStack& AskedDescriptors() {
  static const AskedStack kAsked{kDescriptorsKey, ""};
  return kAsked;
}

bool IsToBeRepeated(const WindowResult& window, const Finding& finding) {
  return IsToBeConfirmed(window, finding) && finding.other_stacks == 0;
}

AskedStacks FindOpenStacks(const WindowResult& window) {
  AskedStacks open;
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (const Finding& finding : *findings) {
      if (IsToBeRepeated(window, finding)) open.insert(AskedOf(finding));
    }
  }
  if (window.descriptor_growth == DescriptorGrowth::kUnconfirmed) open.insert(AskedDescriptors());
  return open;
}

AskedStacks FindExcused(const AskedStacks& asked, const BlockFates& fates) {
  AskedStacks excused;
  for (const AskedStack& one : asked) {
    const bool is_of_set_up = fates.lost.contains(one.keeper) && fates.lost.contains(one.stack);
    if (is_of_set_up || fates.queued.contains(one.stack)) excused.insert(one);
  }
  return excused;
}

AskedStacks Without(const AskedStacks& asked, const AskedStacks& left_out) {
  AskedStacks rest;
  std::set_difference(asked.begin(), asked.end(), left_out.begin(), left_out.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

std::set<std::string> SitesOf(const AskedStacks& asked) {
  std::set<std::string> sites;
  for (const AskedStack& one : asked) sites.insert(one.site);
  return sites;
}

std::set<std::string> StacksOf(const AskedStacks& asked) {
  std::set<std::string> stacks;
  for (const AskedStack& one : asked) stacks.insert(one.stack);
  return stacks;
}

std::set<std::string> StacksWithKeepers(const AskedStacks& asked) {
  std::set<std::string> stacks = StacksOf(asked);
  for (const AskedStack& one : asked) {
    if (!one.keeper.empty()) stacks.insert(one.keeper);
  }
  return stacks;
}

int CountFirstRepetitions(const WindowResult& window) {
  constexpr std::chrono::milliseconds kQuickSeries(100);
  const auto once = std::max(window.end - window.begin, std::chrono::nanoseconds(1));
  const std::int64_t have_room = kMuchMemory / std::max<std::int64_t>(window.outstanding.bytes, 1);
  return static_cast<int>(
      std::clamp<std::int64_t>(std::min<std::int64_t>(kQuickSeries / once, have_room),
                               kFewestRepetitions, kMostQuickRepetitions));
}

bool IsSlow(const WindowResult& window) {
  constexpr int kWhole = 64;
  return kWhole * (window.end - window.begin) > kLongestSeries;
}

bool MayShareProcess(const WindowResult& window) {
  return window.status == TestStatus::kPassed && window.kind == WindowKind::kTest &&
         CountFirstRepetitions(window) == kMostQuickRepetitions &&
         window.descriptor_growth != DescriptorGrowth::kUnconfirmed &&
         std::none_of(window.mappings.begin(), window.mappings.end(),
                      [&](const Finding& finding) { return IsToBeConfirmed(window, finding); });
}

bool LeavesThreadsAlone(const WindowResult& window) {
  const auto is_other = [&](const Finding& finding) {
    return IsToBeConfirmed(window, finding) && !IsOfRunningThread(window, finding);
  };
  return window.descriptor_growth != DescriptorGrowth::kUnconfirmed &&
         std::none_of(window.findings.begin(), window.findings.end(), is_other) &&
         std::none_of(window.mappings.begin(), window.mappings.end(), is_other);
}

}  // namespace leakgate
