#include "runner/recording/view/recording_diff.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "runner/attribution/leak_identity.h"
#include "runner/recording/view/show_recording.h"

namespace leakgate {
namespace {

using Sites = std::map<std::pair<std::string, std::string>, RecordingSiteChange>;

// Adds the stacks of `view` to `which` of their call sites.
void AddSites(RecordingView& view, RecordedCounts RecordingSiteChange::*which, bool has_lines,
              Sites& sites) {
  const EventTally& tally = view.tally();
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    if (tally.by_stack()[i].IsEmpty()) continue;
    const std::uint32_t stack = tally.stacks()[i];
    const std::optional<FrameId> site = view.frames().CallSiteOf(stack);
    std::string name = NameWithoutFrames(stack);
    std::string place;
    if (site) {
      const Frame& told = view.frames().Get(*site);
      const Frame frame = has_lines ? told : WithoutPosition(told);
      name = NameOfFrame(frame);
      place = PlaceOfFrame(frame);
    }
    const auto [known, is_new] = sites.try_emplace({name, place});
    RecordingSiteChange& it = known->second;
    if (is_new) {
      it.name = std::move(name);
      it.place = std::move(place);
      it.is_users = site && view.frames().IsUsers(*site);
    }
    it.*which += tally.by_stack()[i];
  }
}

RecordingDiff::Side SideOf(const RecordingView& view) {
  return {.file = view.contents().file,
          .facts = view.contents().facts,
          .length_ns = view.end_ns() - view.begin_ns(),
          .is_incomplete = IsIncomplete(view)};
}

std::string ImageName(const RecordingView& view) {
  return std::filesystem::path(view.contents().facts.name).filename().string();
}

}  // namespace

RecordingDiff DiffRecordings(RecordingView& first, RecordingView& second, Weigh weigh) {
  RecordingDiff diff;
  const std::string build_id = BuildIdOfImage(first.contents());
  diff.has_lines = !build_id.empty() && build_id == BuildIdOfImage(second.contents());
  diff.is_same_image = ImageName(first) == ImageName(second);
  diff.first = SideOf(first);
  diff.second = SideOf(second);
  Sites sites;
  AddSites(first, &RecordingSiteChange::before, diff.has_lines, sites);
  AddSites(second, &RecordingSiteChange::after, diff.has_lines, sites);
  for (auto& [key, site] : sites) {
    diff.total.before += site.before;
    diff.total.after += site.after;
    diff.sites.push_back(std::move(site));
  }
  std::stable_sort(diff.sites.begin(), diff.sites.end(),
                   [&](const RecordingSiteChange& a, const RecordingSiteChange& b) {
                     const auto key = [&](const RecordingSiteChange& site) {
                       const Amount growth = site.Growth(weigh);
                       const Amount total = site.Growth(Weigh::kTotal);
                       return std::tuple(growth.bytes, growth.blocks, total.bytes);
                     };
                     return key(a) > key(b);
                   });
  for (RecordingView* const view : {&first, &second}) {
    for (const std::string& line : MissingFrom(*view)) {
      diff.missing.push_back(view->contents().file + ": " + line);
    }
    AddProblemsOf(view->contents(), view->frames(), diff.module_problems);
  }
  return diff;
}

}  // namespace leakgate
