#include "runner/snapshot/view/snapshot_page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/report/formats/html_page.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/snapshot/view/stack_changes.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

Json NumbersOf(const Amount& amount) { return {amount.bytes, amount.blocks}; }

// The blocks of one call site, that are not live but mapped, or freed.
struct OtherBlocks {
  Amount amount;
  std::int64_t reserved_bytes = 0;
  std::uint32_t stack = 0;  // the one that has most
  std::int64_t most = -1;

  void Add(std::uint32_t of_stack, const Amount& added, std::int64_t reserved) {
    amount += added;
    reserved_bytes = AddSaturating(reserved_bytes, reserved);
    const std::int64_t all = AddSaturating(added.bytes, reserved);
    if (all <= most) return;
    most = all;
    stack = of_stack;
  }
};

using OtherSites = std::map<std::uint64_t, OtherBlocks>;  // by SiteKeyOf

class SnapshotPage {
 public:
  SnapshotPage(SnapshotView& view, std::ostream& out, const PageLimits& limits)
      : view_(view), out_(out), limits_(limits), stacks_(limits, FrameIdentity::kAddress) {}

  void Write(const ReadSource& read_source) {
    const auto [before, behind] = HtmlTemplateHalves();
    out_ << before << "{\"snapshot\":" << ScriptJson(Facts());
    // Few stacks at most, and they come first, so that there is room for them.
    const Json mapped = Others(MappedSites());
    const Json freed =
        (view_.contents().facts.stack_events & kStacksOfFree) != 0 ? Others(FreedSites()) : Json();
    WritePageMember(out_, "sites", Sites());
    WritePageMember(out_, "live", Live());
    WritePageMember(out_, "tables", Tables());
    WritePageMember(out_, "sizes", Sizes());
    WritePageMember(out_, "mapped", mapped);
    WritePageMember(out_, "freed", freed);
    stacks_.WriteMembers(out_, read_source);
    WriteProblems(out_, view_.stacks());
    out_ << '}' << behind;
  }

 private:
  Json Facts() {
    Json facts = SnapshotFactsJson(view_);
    Json lines = Json::array();
    for (const FactLine& line : HeadingLines(view_, SnapshotThings::kBlocks))
      lines.push_back({line.key, line.text});
    facts["lines"] = std::move(lines);
    facts["filter"] = FilterText(view_.stacks().query());
    facts["shown"] = NumbersOf(view_.tally().total());
    return facts;
  }

  Json Sites() {
    const std::vector<SnapshotGroup> groups = GroupsOf(view_, GroupBy::kSite);
    Json rows = Json::array();
    for (const SnapshotGroup& group : groups) {
      if (rows.size() == limits_.sites) break;
      rows.push_back({stacks_.String(group.name), stacks_.String(group.place), group.amount.bytes,
                      group.amount.blocks, TestName(group.first_window),
                      TestName(group.last_window),
                      view_.frames().UserFrameOf(group.stack) ? 1 : 0});
      row_of_site_[SiteKeyOf(view_.frames(), group.stack)] = rows.size();
    }
    return {{"count", groups.size()}, {"rows", std::move(rows)}};
  }

  int TestName(std::uint32_t window) {
    return stacks_.String(NameOfWindow(view_.contents(), window));
  }

  // The largest stacks first.
  Json Live() {
    const std::vector<StackTally>& tallies = view_.tally().by_stack();
    std::vector<std::uint32_t> order;
    for (std::uint32_t stack = 0; stack < tallies.size(); ++stack) {
      if (tallies[stack].blocks != 0) order.push_back(stack);
    }
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(tallies[a].bytes, tallies[a].blocks, b) >
             std::tie(tallies[b].bytes, tallies[b].blocks, a);
    });
    Json rows = Json::array();
    Amount rest;
    for (const std::uint32_t stack : order) {
      if (stacks_.IsFull()) {
        rest += tallies[stack].amount();
        continue;
      }
      const auto [node, site, end] = stacks_.Add(view_.frames(), stack);
      rows.push_back(
          {node, site, end, RowOfSite(stack), tallies[stack].bytes, tallies[stack].blocks});
    }
    return {{"stacks", order.size()},
            {"left_out", {order.size() - rows.size(), rest.bytes, rest.blocks}},
            {"rows", std::move(rows)}};
  }

  std::size_t RowOfSite(std::uint32_t stack) const {
    const auto row = row_of_site_.find(SiteKeyOf(view_.frames(), stack));
    return row == row_of_site_.end() ? 0 : row->second;
  }

  Json Tables() {
    Json tables = Json::array();
    for (const GroupBy by : {GroupBy::kComponent, GroupBy::kModule, GroupBy::kThread,
                             GroupBy::kWindow, GroupBy::kAge, GroupBy::kKind}) {
      if (by == GroupBy::kComponent && !view_.stacks().HasComponents()) continue;
      tables.push_back(Table(by));
    }
    return tables;
  }

  Json Table(GroupBy by) {
    const std::vector<SnapshotGroup> groups = GroupsOf(view_, by);
    Json rows = Json::array();
    Amount rest;
    for (const SnapshotGroup& group : groups) {
      if (rows.size() == limits_.rows) {
        rest += group.amount;
        continue;
      }
      rows.push_back({stacks_.String(group.name), stacks_.String(group.place), group.amount.bytes,
                      group.amount.blocks});
    }
    return {{"by", Word(by)},
            {"title", TitleOf(by)},
            {"groups", groups.size()},
            {"rest", NumbersOf(rest)},
            {"rows", std::move(rows)}};
  }

  Json Sizes() const {
    Json sizes = Json::array();
    const auto& classes = view_.tally().by_size();
    for (std::size_t at = 0; at < classes.size(); ++at) {
      if (classes[at].blocks == 0) continue;
      const std::uint64_t most = std::uint64_t{1} << at;
      sizes.push_back({at == 0 ? 0 : most / 2 + 1, most, classes[at].bytes, classes[at].blocks});
    }
    return sizes;
  }

  OtherSites MappedSites() {
    OtherSites sites;
    for (const SnapshotMapping& mapping : view_.contents().mappings) {
      if (!view_.Matches(mapping.stack)) continue;
      const auto bytes = static_cast<std::int64_t>(mapping.bytes);
      const bool is_reserved = mapping.protection == 0;
      sites[SiteKeyOf(view_.frames(), mapping.stack)].Add(
          mapping.stack, {is_reserved ? 0 : bytes, 1}, is_reserved ? bytes : 0);
    }
    return sites;
  }

  OtherSites FreedSites() {
    OtherSites sites;
    for (const SnapshotFrees& frees : view_.contents().frees) {
      if (!view_.Matches(frees.stack)) continue;
      sites[SiteKeyOf(view_.frames(), frees.stack)].Add(frees.stack,
                                                        AmountOf(frees.bytes, frees.blocks), 0);
    }
    return sites;
  }

  Json Others(const OtherSites& sites) {
    std::vector<const OtherBlocks*> order;
    for (const auto& [key, blocks] : sites) order.push_back(&blocks);
    std::stable_sort(order.begin(), order.end(), [](const OtherBlocks* a, const OtherBlocks* b) {
      return std::tie(a->amount.bytes, a->reserved_bytes, a->amount.blocks) >
             std::tie(b->amount.bytes, b->reserved_bytes, b->amount.blocks);
    });
    Json rows = Json::array();
    for (const OtherBlocks* const blocks : order) {
      if (rows.size() == limits_.rows) break;
      const SiteName site = SiteNameOf(view_.frames(), blocks->stack, Lines::kTellApart);
      const auto [node, frame, end] = stacks_.Add(view_.frames(), blocks->stack);
      rows.push_back({stacks_.String(site.name), stacks_.String(site.place), blocks->amount.bytes,
                      blocks->amount.blocks, blocks->reserved_bytes, node, frame, end});
    }
    return {{"count", order.size()}, {"rows", std::move(rows)}};
  }

  SnapshotView& view_;
  std::ostream& out_;
  const PageLimits limits_;
  PageStacks stacks_;
  std::map<std::uint64_t, std::size_t> row_of_site_;  // by SiteKeyOf, counted from 1
};

}  // namespace

void WriteSnapshotPage(SnapshotView& view, std::ostream& out, const ReadSource& read_source,
                       const PageLimits& limits) {
  SnapshotPage(view, out, limits).Write(read_source);
}

}  // namespace leakgate
