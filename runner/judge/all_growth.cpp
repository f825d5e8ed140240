#include "runner/judge/all_growth.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "runner/attribution/call_sites.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

std::string_view NounOf(AllocationKind kind) {
  if (kind == AllocationKind::kThreadStack) return "thread";
  return IsMapped(kind) ? "mapping" : "block";
}

std::int64_t OnAverage(std::int64_t sum, std::size_t repetitions) {
  const auto count = static_cast<std::int64_t>(repetitions);
  return sum <= 0 ? 0 : std::max<std::int64_t>((sum + count / 2) / count, 1);
}

void TakeNet(const std::vector<std::int64_t>& part, std::vector<std::int64_t>& net) {
  for (std::size_t i = 0; i < std::min(part.size(), net.size()); ++i) net[i] -= part[i];
}

}  // namespace

void TakeOut(const std::set<std::string>& sites, AllGrowth& all) {
  std::erase_if(all.shares, [&](const GrowthShare& share) {
    if (!sites.contains(share.site)) return false;
    TakeNet(share.series.blocks, all.total.blocks);
    TakeNet(share.series.bytes, all.total.bytes);
    TakeNet(share.series.told_blocks, all.total.told_blocks);
    TakeNet(share.series.told_bytes, all.total.told_bytes);
    return true;
  });
}

JudgedSeries JudgeSum(const AllGrowth& all, SeriesLength length) {
  if (all.total.blocks.empty()) return {Growth::kNone, all.total, true};
  return {ClassifyGrowth(all.total, length), all.total, true};
}

bool IsMadeUpFor(const AllGrowth& all, const RepetitionSeries& series) {
  const Amount sum = GrowthOf(all.total);
  const Amount own = GrowthOf(series);
  const auto is_given_back = [](std::int64_t grown, std::int64_t in_all, std::int64_t fallen) {
    return grown <= 0 || (2 * in_all < grown && 2 * fallen >= grown);
  };
  return is_given_back(own.blocks, sum.blocks, all.fallen.blocks) &&
         is_given_back(own.bytes, sum.bytes, all.fallen.bytes);
}

std::string GrownText(const RepetitionSeries& series, AllocationKind kind) {
  const Amount grown = GrowthOf(series);
  const std::string bytes = FormatBytes(grown.bytes);
  return grown.blocks > 0 ? fmt::format("{}, {}", FormatCount(grown.blocks, NounOf(kind)), bytes)
                          : bytes;
}

std::string ExplainSum(const AllGrowth& all) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> named;
  for (const GrowthShare& share : all.shares) {
    if (named.size() == kMostNamed) break;
    named.push_back(fmt::format("{} {}", ReadableCallSite(share.finding),
                                FormatBytes(GrowthOf(share.series).bytes)));
  }
  const std::size_t more = all.shares.size() - named.size();
  if (more > 0) named.push_back(FormatCount(static_cast<std::int64_t>(more), "more call site"));
  return fmt::format("in {} repetitions all call sites together grew by {}: {}",
                     CountRepetitions(all.total), GrownText(all.total, AllocationKind::kMalloc),
                     fmt::join(named, ", "));
}

Finding FindingOf(const GrowthShare& share, const RepetitionSeries& grown) {
  Finding finding = share.finding;
  const Amount growth = GrowthOf(grown);
  const std::size_t repetitions = CountRepetitions(grown) - 1;
  finding.amount = {OnAverage(growth.bytes, repetitions), OnAverage(growth.blocks, repetitions)};
  if (finding.amount.blocks == 0) finding.amount.blocks = 1;
  finding.reach = Reach::kUnknown;
  return finding;
}

}  // namespace leakgate
