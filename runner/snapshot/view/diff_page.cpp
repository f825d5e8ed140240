#include "runner/snapshot/view/diff_page.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "runner/report/formats/html_page.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

void AppendTo(Json& numbers, const SnapshotChange& change) {
  for (const Amount* const amount :
       {&change.before, &change.after, &change.appeared, &change.gone}) {
    numbers.push_back(amount->bytes);
    numbers.push_back(amount->blocks);
  }
}

Json With(Json numbers, const SnapshotChange& change) {
  AppendTo(numbers, change);
  return numbers;
}

// Returns whether there is a change, for snapshots of one process or of two.
bool Differs(const SnapshotChange& change) {
  return change.before != change.after || change.appeared != Amount{} || change.gone != Amount{};
}

// Returns how important a change is for the page.
std::int64_t WeightOf(const SnapshotChange& change) {
  const std::int64_t growth = change.Growth().bytes;
  const std::int64_t distance = growth < 0 ? SubtractSaturating(0, growth) : growth;
  return std::max({distance, change.appeared.bytes, change.gone.bytes});
}

FrameIdentity IdentityIn(const SnapshotDiff& diff) {
  if (diff.is_same_process) return FrameIdentity::kAddress;
  return diff.has_lines ? FrameIdentity::kLine : FrameIdentity::kFunction;
}

// Returns the stacks that have changed, the largest changes first. The same stack of two processes
// becomes one.
std::vector<ChangedStack> Changed(const std::vector<ChangedStack>& stacks, FrameIdentity identity) {
  std::vector<ChangedStack> changed;
  if (identity == FrameIdentity::kAddress) {
    changed = stacks;
  } else {
    constexpr auto kAll = std::numeric_limits<std::size_t>::max();
    PageStacks all({.stacks = kAll, .nodes = kAll, .table_bytes = kAll}, identity);
    std::map<PageStacks::Numbers, std::size_t> known;
    for (const ChangedStack& it : stacks) {
      const auto [at, is_new] = known.try_emplace(all.Add(*it.frames, it.stack), changed.size());
      if (is_new) {
        changed.push_back(it);
      } else {
        changed[at->second].change += it.change;
      }
    }
  }
  std::erase_if(changed, [](const ChangedStack& it) { return !Differs(it.change); });
  std::stable_sort(changed.begin(), changed.end(),
                   [](const ChangedStack& a, const ChangedStack& b) {
                     return WeightOf(a.change) > WeightOf(b.change);
                   });
  return changed;
}

// Returns about `most` of `sites`: as many that have grown as have shrunk, and then those in which
// blocks were replaced by as many others.
ChangedSites Largest(const std::vector<SiteChange>& sites, std::size_t most) {
  ChangedSites largest;
  const DiffParts parts = PartsOf(sites);
  for (const ChangedSites* const part : {&parts.grown, &parts.shrunk, &parts.replaced}) {
    const std::size_t taken = std::min(part->size(), most / 2);
    largest.insert(largest.end(), part->begin(),
                   part->begin() + static_cast<std::ptrdiff_t>(taken));
  }
  return largest;
}

// Makes the members of the page that need stacks.
class DiffMembers {
 public:
  DiffMembers(const SnapshotDiff& diff, const PageLimits& limits, Lines lines, PageStacks& stacks)
      : diff_(diff), limits_(limits), lines_(lines), stacks_(stacks) {}

  std::string Text(const ChangedStacks& changed) {
    std::ostringstream out;
    // These are few stacks, and they come first, so that there is room for them.
    const Json mapped = MappedSites(Changed(changed.mappings, IdentityIn(diff_)));
    WritePageMember(out, "sites", Sites());
    WritePageMember(out, "changes", Changes(Changed(changed.blocks, IdentityIn(diff_))));
    WritePageMember(out, "mapped_sites", mapped);
    return out.str();
  }

 private:
  Json Site(const SiteChange& site) {
    return {stacks_.String(site.name), stacks_.String(site.place), site.is_users ? 1 : 0};
  }

  Json Sites() {
    Json rows = Json::array();
    for (const SiteChange* const site : Largest(diff_.sites, limits_.sites)) {
      rows.push_back(With(Site(*site), site->sums));
      row_of_site_[{site->name, site->place}] = rows.size();
    }
    return {{"count", diff_.sites.size()}, {"rows", std::move(rows)}};
  }

  Json Changes(const std::vector<ChangedStack>& changed) {
    Json rows = Json::array();
    SnapshotChange rest;
    for (const ChangedStack& it : changed) {
      if (stacks_.IsFull()) {
        rest += it.change;
        continue;
      }
      const auto row = row_of_site_.find(SiteNameOf(*it.frames, it.stack, lines_));
      const auto [node, site, end] = stacks_.Add(*it.frames, it.stack);
      rows.push_back(
          With({node, site, end, row == row_of_site_.end() ? 0 : row->second}, it.change));
    }
    return {{"stacks", changed.size()},
            {"left_out", With(Json::array({changed.size() - rows.size()}), rest)},
            {"rows", std::move(rows)}};
  }

  Json MappedSites(const std::vector<ChangedStack>& changed) {
    std::map<SiteName, const ChangedStack*> stack_of;
    for (const ChangedStack& it : changed) {
      stack_of.try_emplace(SiteNameOf(*it.frames, it.stack, lines_), &it);
    }
    Json rows = Json::array();
    for (const SiteChange* const site : Largest(diff_.mapped_sites, limits_.rows)) {
      Json row = With(Site(*site), site->sums);
      const auto known = stack_of.find({site->name, site->place});
      const PageStacks::Numbers numbers =
          known == stack_of.end() ? PageStacks::Numbers{}
                                  : stacks_.Add(*known->second->frames, known->second->stack);
      for (const int number : numbers) row.push_back(number);
      rows.push_back(std::move(row));
    }
    // Sites that only have more or less memory resident are not on the page.
    const std::size_t left_out = PartsOf(diff_.mapped_sites).touched.size();
    return {{"count", diff_.mapped_sites.size() - left_out}, {"rows", std::move(rows)}};
  }

  const SnapshotDiff& diff_;
  const PageLimits& limits_;
  const Lines lines_;
  PageStacks& stacks_;
  std::map<SiteName, std::size_t> row_of_site_;  // counted from 1
};

Json SideJson(const std::string& file, const SnapshotFacts& facts) {
  Json lines = Json::array();
  for (const FactLine& line : LinesOf(facts)) lines.push_back({line.key, line.text});
  return {{"file", file},
          {"image", facts.image},
          {"name", facts.name},
          {"pid", facts.pid},
          {"generation", facts.generation},
          {"occasion", facts.occasion},
          {"lines", std::move(lines)}};
}

// Of two processes, by the machines' clocks. Below 0 if the second is the earlier one.
double SecondsBetween(const SnapshotDiff& diff) {
  const auto between = [](std::uint64_t begin_ns, std::uint64_t end_ns) {
    return static_cast<double>(static_cast<std::int64_t>(end_ns - begin_ns)) / 1e9;
  };
  if (diff.is_same_process) return between(diff.first.taken_ns, diff.second.taken_ns);
  return between(diff.first.taken_unix_ns, diff.second.taken_unix_ns);
}

}  // namespace

void DiffPage::Take(const SnapshotDiff& diff, const ChangedStacks& stacks) {
  stacks_.emplace(limits_, IdentityIn(diff));
  members_ = DiffMembers(diff, limits_, stacks.lines, *stacks_).Text(stacks);
}

void DiffPage::Write(const SnapshotDiff& diff, const std::string& filter, std::ostream& out,
                     const ReadSource& read_source) const {
  const Json difference = {{"from", SideJson(diff.files[0], diff.first)},
                           {"to", SideJson(diff.files[1], diff.second)},
                           {"same_process", diff.is_same_process},
                           {"compared", HowCompared(diff)},
                           {"seconds_between", SecondsBetween(diff)},
                           {"filter", filter},
                           {"missing", diff.missing},
                           {"problems", diff.module_problems},
                           {"total", With(Json::array(), diff.total)},
                           {"mapped", With(Json::array(), diff.mapped)}};
  const auto [before, behind] = HtmlTemplateHalves();
  out << before << "{\"difference\":" << ScriptJson(difference) << members_;
  stacks_->WriteMembers(out, read_source);
  out << '}' << behind;
}

}  // namespace leakgate
