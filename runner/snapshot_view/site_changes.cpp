#include "runner/snapshot_view/site_changes.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "runner/snapshot_view/snapshot_groups.h"

namespace leakgate {
namespace {

bool HasChanged(const SnapshotChange& change) {
  return change.Growth() != Amount{} || change.appeared != Amount{} || change.gone != Amount{};
}

}  // namespace

SnapshotChange& operator+=(SnapshotChange& a, const SnapshotChange& b) {
  a.before += b.before;
  a.after += b.after;
  a.appeared += b.appeared;
  a.gone += b.gone;
  return a;
}

void SiteChanges::Add(StackFrames& frames, std::uint32_t stack, const SnapshotChange& change) {
  const std::optional<FrameId> site = frames.CallSiteOf(stack);
  std::string name = NameWithoutFrames(stack);
  std::string place;
  if (site) {
    Frame frame = frames.Get(*site);
    if (lines_ == Lines::kMayHaveMoved) {
      frame.line = 0;
      if (frame.function.empty() && !frame.module.empty()) {
        frame.function = std::filesystem::path(frame.module).filename().string();
      }
    }
    name = NameOfFrame(frame);
    place = PlaceOfFrame(frame);
  }
  const auto [known, is_new] = sites_.try_emplace(name + "\n" + place);
  SiteChange& it = known->second;
  if (is_new) {
    it.name = std::move(name);
    it.place = std::move(place);
    it.is_users = site && frames.IsUsers(*site);
  }
  it.change += change;
  total_ += change;
}

std::vector<SiteChange> SiteChanges::Take() {
  std::vector<SiteChange> sites;
  for (auto& [key, site] : sites_) {
    if (HasChanged(site.change)) sites.push_back(std::move(site));
  }
  std::stable_sort(sites.begin(), sites.end(), [](const SiteChange& a, const SiteChange& b) {
    const Amount first = a.change.Growth();
    const Amount second = b.change.Growth();
    return std::tie(first.bytes, first.blocks) > std::tie(second.bytes, second.blocks);
  });
  return sites;
}

}  // namespace leakgate
