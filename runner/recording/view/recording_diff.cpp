#include "runner/recording/view/recording_diff.h"

#include <filesystem>
#include <tuple>

#include "runner/base/path_text.h"
#include "runner/recording/view/show_recording.h"

namespace leakgate {
namespace {

// Adds the stacks of `view` to `which` of their call sites.
void AddSites(RecordingView& view, RecordedCounts RecordingChange::*which,
              SiteSums<RecordingChange>& sites) {
  const EventTally& tally = view.tally();
  for (std::size_t i = 0; i < tally.stacks().size(); ++i) {
    if (tally.by_stack()[i].IsEmpty()) continue;
    RecordingChange change;
    change.*which = tally.by_stack()[i];
    sites.Add(view.frames(), tally.stacks()[i], change);
  }
}

RecordingDiff::Side SideOf(const RecordingView& view) {
  return {.file = view.contents().file,
          .facts = view.contents().facts,
          .length_ns = view.end_ns() - view.begin_ns(),
          .is_incomplete = IsIncomplete(view)};
}

std::string ImageName(const RecordingView& view) { return FileNameIn(view.contents().facts.name); }

}  // namespace

RecordingDiff DiffRecordings(RecordingView& first, RecordingView& second, Weigh weigh) {
  RecordingDiff diff;
  const std::string build_id = BuildIdOfImage(first.contents());
  diff.has_lines = !build_id.empty() && build_id == BuildIdOfImage(second.contents());
  diff.is_same_image = ImageName(first) == ImageName(second);
  diff.first = SideOf(first);
  diff.second = SideOf(second);
  SiteSums<RecordingChange> sites(diff.has_lines ? Lines::kTellApart : Lines::kMayHaveMoved);
  AddSites(first, &RecordingChange::before, sites);
  AddSites(second, &RecordingChange::after, sites);
  diff.total = sites.total();
  diff.sites = sites.Take([](const RecordingChange&) { return true; },
                          [&](const RecordingChange& change) {
                            const Amount growth = change.Growth(weigh);
                            return std::tuple(growth.bytes, growth.blocks,
                                              change.Growth(Weigh::kTotal).bytes);
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
