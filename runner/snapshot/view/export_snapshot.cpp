#include "runner/snapshot/view/export_snapshot.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/report/formats/stack_samples.h"
#include "runner/snapshot/view/snapshot_page.h"

namespace leakgate {
namespace {

// Profiles show only frames, so this frame says that the stack was not taken.
Frame FrameOfNoStack() {
  Frame frame;
  frame.function = "[stack not taken]";
  return frame;
}

ProfileWriter NewProfileWriter(SnapshotFormat format, std::ostream& out,
                               const ReportSurroundings& surroundings, const ProfileWords& words) {
  if (format == SnapshotFormat::kPprof) return NewPprofProfile(out, surroundings, words.pprof);
  if (format == SnapshotFormat::kFolded) return NewFoldedProfile(out);
  return NewSpeedscopeProfile(out, surroundings, words.memory);
}

}  // namespace

void WriteProfile(SnapshotFormat format, std::ostream& out, const ReportSurroundings& surroundings,
                  StackLookup& stacks, const StackAmounts& amounts) {
  const ProfileWriter profile = NewProfileWriter(format, out, surroundings, amounts.words);
  const std::filesystem::path image(amounts.image);
  const std::string program = "program " + PathText(image.filename());
  StackFrames& frames_of = stacks.frames();
  for (const auto& [stack, amount] : amounts.amounts) {
    std::vector<Frame> frames;
    for (const FrameId id : frames_of.FramesOf(stack)) frames.push_back(frames_of.Get(id));
    if (frames_of.EndOf(stack) == UnwindEnd::kNotTaken) frames.push_back(FrameOfNoStack());
    profile.add({.root = program,
                 .frames = frames,
                 .amount = amount,
                 .component = stacks.ComponentOf(stack),
                 .disposition = {}});
  }
  profile.finish();
}

std::vector<std::pair<std::string_view, SnapshotFormat>> SnapshotFormats() {
  return {{"folded", SnapshotFormat::kFolded},
          {"pprof", SnapshotFormat::kPprof},
          {"speedscope", SnapshotFormat::kSpeedscope},
          {"heaptrack", SnapshotFormat::kHeaptrack},
          {"json", SnapshotFormat::kJson},
          {"html", SnapshotFormat::kHtml}};
}

Expected<void> ExportSnapshot(SnapshotView& view, SnapshotFormat format, std::ostream& out,
                              const ReportSurroundings& surroundings) {
  if (format == SnapshotFormat::kHeaptrack) return WriteHeaptrack(view, out);
  if (format == SnapshotFormat::kJson) return WriteSnapshotJson(view, out);
  if (format == SnapshotFormat::kHtml) {
    WriteSnapshotPage(view, out, surroundings.read_source);
    return {};
  }
  WriteProfile(format, out, surroundings, view.stacks(),
               {.image = view.contents().facts.name,
                .amounts = AmountsByStack(view.tally()),
                .words = {.memory = "live", .pprof = "inuse"}});
  return {};
}

}  // namespace leakgate
