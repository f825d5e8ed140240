#include "runner/snapshot/view/export_snapshot.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runner/report/formats/stack_samples.h"

namespace leakgate {
namespace {

// Profiles show only frames, so this frame says that the stack was not taken.
Frame FrameOfNoStack() {
  Frame frame;
  frame.function = "[stack not taken]";
  return frame;
}

void WriteProfile(SnapshotView& view, const ProfileWriter& profile) {
  const std::filesystem::path image(view.contents().facts.image);
  const std::string program = "program " + image.filename().string();
  const std::vector<StackTally>& stacks = view.tally().by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks == 0) continue;
    std::vector<Frame> frames;
    for (const FrameId id : view.frames().FramesOf(stack)) {
      frames.push_back(view.frames().Get(id));
    }
    if (view.frames().EndOf(stack) == UnwindEnd::kNotTaken) frames.push_back(FrameOfNoStack());
    profile.add({.root = program,
                 .frames = frames,
                 .amount = stacks[stack].amount(),
                 .component = view.stacks().ComponentOf(stack),
                 .disposition = {}});
  }
  profile.finish();
}

ProfileWriter NewProfileWriter(SnapshotFormat format, std::ostream& out,
                               const ReportSurroundings& surroundings) {
  if (format == SnapshotFormat::kPprof) return NewPprofProfile(out, surroundings);
  if (format == SnapshotFormat::kFolded) return NewFoldedProfile(out);
  return NewSpeedscopeProfile(out, surroundings, "live");
}

}  // namespace

std::vector<std::pair<std::string_view, SnapshotFormat>> SnapshotFormats() {
  return {{"folded", SnapshotFormat::kFolded},
          {"pprof", SnapshotFormat::kPprof},
          {"speedscope", SnapshotFormat::kSpeedscope},
          {"heaptrack", SnapshotFormat::kHeaptrack},
          {"json", SnapshotFormat::kJson}};
}

Expected<void> ExportSnapshot(SnapshotView& view, SnapshotFormat format, std::ostream& out,
                              const ReportSurroundings& surroundings) {
  if (format == SnapshotFormat::kHeaptrack) return WriteHeaptrack(view, out);
  if (format == SnapshotFormat::kJson) return WriteSnapshotJson(view, out);
  WriteProfile(view, NewProfileWriter(format, out, surroundings));
  return {};
}

}  // namespace leakgate
