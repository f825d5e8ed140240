#include "runner/snapshot/view/snapshot_page.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/report/formats/html_page.h"
#include "runner/snapshot/view/mapped_groups.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

Json NumbersOf(const Amount& amount) { return {amount.bytes, amount.blocks}; }

// Freed memory is never reserved.
Json NumbersOfOther(const Amount& amount) { return {amount.bytes, amount.blocks, 0}; }
Json NumbersOfOther(const MappedAmount& amount) {
  return {amount.committed_bytes, amount.mappings, amount.reserved_bytes};
}

class SnapshotPage {
 public:
  SnapshotPage(SnapshotView& view, std::ostream& out, const PageLimits& limits)
      : view_(view), out_(out), limits_(limits), stacks_(limits, FrameIdentity::kAddress) {}

  void Write(const ReadSource& read_source) {
    const auto [before, behind] = HtmlTemplateHalves();
    out_ << before << "{\"snapshot\":" << ScriptJson(Facts());
    // These are few stacks, and they come first, so that there is room for them.
    const Json mapped = Others(MappedGroupsOf(view_, GroupBy::kSite));
    const bool has_freed = (view_.contents().facts.stack_events & kStacksOfFree) != 0;
    const Json freed = has_freed ? Others(GroupsOf(view_, GroupBy::kFreedBy)) : Json();
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
      rows.push_back({stacks_.String(group.name), stacks_.String(group.place), group.sums.bytes,
                      group.sums.blocks, TestName(group.windows.first),
                      TestName(group.windows.last),
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
        rest += group.sums;
        continue;
      }
      rows.push_back({stacks_.String(group.name), stacks_.String(group.place), group.sums.bytes,
                      group.sums.blocks});
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

  // The call sites of blocks that are not live but mapped, or freed.
  template <typename Sums>
  Json Others(const std::vector<Group<Sums>>& sites) {
    Json rows = Json::array();
    for (const Group<Sums>& site : sites) {
      if (rows.size() == limits_.rows) break;
      const auto [node, frame, end] = stacks_.Add(view_.frames(), site.stack);
      Json row = {stacks_.String(site.name), stacks_.String(site.place)};
      for (const Json& number : NumbersOfOther(site.sums)) row.push_back(number);
      for (const int number : {node, frame, end}) row.push_back(number);
      rows.push_back(std::move(row));
    }
    return {{"count", sites.size()}, {"rows", std::move(rows)}};
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
