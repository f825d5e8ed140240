#include "runner/snapshot/view/export_snapshot.h"

#include <filesystem>
#include <utility>

#include "runner/report/formats/writers.h"

namespace leakgate {
namespace {

// The program as the window of a run, whose findings are the stacks: some at a time, since
// each has its frames written out.
class ProgramWindow {
 public:
  ProgramWindow(const SnapshotContents& contents, const ReportWriter& writer) : writer_(writer) {
    run_.windows.emplace_back();
    WindowResult& window = run_.windows.back();
    window.kind = WindowKind::kProgram;
    window.name = std::filesystem::path(contents.facts.image).filename().string();
  }

  void Add(Finding finding) {
    std::vector<Finding>& findings = run_.windows.back().findings;
    findings.push_back(std::move(finding));
    if (findings.size() == kAtATime) Write();
  }

  void Write() {
    writer_.add(run_);
    run_.windows.back().findings.clear();
  }

 private:
  static constexpr std::size_t kAtATime = 256;

  const ReportWriter& writer_;
  RunResult run_;
};

// Profiles know frames alone.
Frame FrameOfNoStack() {
  Frame frame;
  frame.function = "[stack not taken]";
  return frame;
}

void WriteProfile(SnapshotView& view, const ReportWriter& writer) {
  ProgramWindow window(view.contents(), writer);
  const std::vector<StackTally>& stacks = view.tally().by_stack();
  for (std::uint32_t stack = 0; stack < stacks.size(); ++stack) {
    if (stacks[stack].blocks == 0) continue;
    Finding finding = view.frames().AsFinding(stack);
    if (finding.stack_end == UnwindEnd::kNotTaken) finding.stack.push_back(FrameOfNoStack());
    finding.amount = stacks[stack].amount();
    finding.component = view.ComponentOf(stack);
    window.Add(std::move(finding));
  }
  window.Write();
  writer.finish();
}

ReportFormat AsReport(SnapshotFormat format) {
  if (format == SnapshotFormat::kPprof) return ReportFormat::kPprof;
  return format == SnapshotFormat::kSpeedscope ? ReportFormat::kSpeedscope : ReportFormat::kFolded;
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
  ReportSurroundings live = surroundings;
  live.profiled = ProfiledMemory::kLive;
  WriteProfile(view, NewReportWriter(AsReport(format), out, live));
  return {};
}

}  // namespace leakgate
