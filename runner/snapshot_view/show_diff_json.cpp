// What has changed between two snapshots, as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/snapshot_view/diff_parts.h"
#include "runner/snapshot_view/show_diff.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// The key of how many there are.
using CountKey = const char*;
constexpr CountKey kBlocks = "blocks";
constexpr CountKey kMappings = "mappings";

Json AmountJson(Amount amount, CountKey key) {
  return {{"bytes", amount.bytes}, {key, amount.blocks}};
}

Json ChangeJson(const SnapshotDiff& diff, const SnapshotChange& change, CountKey key) {
  Json json = {{"before", AmountJson(change.before, key)},
               {"after", AmountJson(change.after, key)},
               {"growth", AmountJson(change.Growth(), key)}};
  if (!diff.is_same_process) return json;
  json["appeared"] = AmountJson(change.appeared, key);
  json["gone"] = AmountJson(change.gone, key);
  return json;
}

Json FactsJson(const std::string& file, const SnapshotFacts& facts) {
  return {{"file", file},
          {"image", facts.image},
          {"pid", facts.pid},
          {"generation", facts.generation},
          {"occasion", facts.occasion}};
}

Json SitesJson(const SnapshotDiff& diff, const std::vector<SiteChange>& changed, CountKey key,
               std::optional<std::size_t> top) {
  Json sites = Json::array();
  const DiffParts parts = PartsOf(changed);
  for (const ChangedSites* part : {&parts.grown, &parts.shrunk, &parts.replaced}) {
    for (std::size_t i = 0; i < std::min(top.value_or(part->size()), part->size()); ++i) {
      const SiteChange& site = *(*part)[i];
      Json entry = {{"name", site.name}, {"place", site.place}, {"users", site.is_users}};
      entry.update(ChangeJson(diff, site.change, key));
      sites.push_back(std::move(entry));
    }
  }
  return sites;
}

}  // namespace

Json DiffJson(const SnapshotDiff& diff, std::optional<std::size_t> top) {
  Json json = {{"schema", "leakgate-snapshot-diff-1"},
               {"from", FactsJson(diff.files[0], diff.first)},
               {"to", FactsJson(diff.files[1], diff.second)},
               {"same_process", diff.is_same_process},
               {"compared_by", diff.is_same_process ? "block" : "call_site"},
               {"with_lines", diff.has_lines},
               {"missing", diff.missing},
               {"modules_without_symbols", diff.module_problems},
               {"total", ChangeJson(diff, diff.total, kBlocks)}};
  json["sites"] = SitesJson(diff, diff.sites, kBlocks, top);
  json["mapped"] = {{"total", ChangeJson(diff, diff.mapped, kMappings)},
                    {"sites", SitesJson(diff, diff.mapped_sites, kMappings, top)}};
  return json;
}

}  // namespace leakgate
