#include "runner/recording/view/export_recording.h"

#include "runner/recording/view/recording_page.h"

namespace leakgate {
namespace {

ProfileWords WordsOf(Weigh weigh) {
  switch (weigh) {
    case Weigh::kPeak:
      return {.memory = "live at the peak", .pprof = "inuse"};
    case Weigh::kOutstanding:
      return {.memory = "outstanding", .pprof = "inuse"};
    case Weigh::kTotal:
      return {.memory = "allocated", .pprof = "alloc"};
    case Weigh::kTemporary:
      return {.memory = "temporary", .pprof = "temporary"};
  }
  return {};
}

}  // namespace

std::vector<std::pair<std::string_view, RecordingFormat>> RecordingFormats() {
  return {{"folded", RecordingFormat::kFolded},
          {"pprof", RecordingFormat::kPprof},
          {"speedscope", RecordingFormat::kSpeedscope},
          {"heaptrack", RecordingFormat::kHeaptrack},
          {"perfetto", RecordingFormat::kPerfetto},
          {"html", RecordingFormat::kHtml},
          {"json", RecordingFormat::kJson},
          {"snapshot", RecordingFormat::kSnapshot}};
}

std::optional<SnapshotFormat> AsSnapshotFormat(RecordingFormat format) {
  switch (format) {
    case RecordingFormat::kFolded:
      return SnapshotFormat::kFolded;
    case RecordingFormat::kPprof:
      return SnapshotFormat::kPprof;
    case RecordingFormat::kSpeedscope:
      return SnapshotFormat::kSpeedscope;
    case RecordingFormat::kHeaptrack:
      return SnapshotFormat::kHeaptrack;
    case RecordingFormat::kJson:
      return SnapshotFormat::kJson;
    case RecordingFormat::kHtml:
      return SnapshotFormat::kHtml;
    case RecordingFormat::kPerfetto:
    case RecordingFormat::kSnapshot:
      break;
  }
  return std::nullopt;
}

bool IsProfile(RecordingFormat format) {
  return format == RecordingFormat::kFolded || format == RecordingFormat::kPprof ||
         format == RecordingFormat::kSpeedscope;
}

bool CanBeOfMoment(RecordingFormat format) {
  return format != RecordingFormat::kPerfetto && format != RecordingFormat::kHtml;
}

bool MustBeOfMoment(RecordingFormat format) {
  return format == RecordingFormat::kJson || format == RecordingFormat::kSnapshot;
}

Expected<void> ExportRecording(RecordingView& view, RecordingFormat format, Weigh weigh,
                               std::ostream& out, const ReportSurroundings& surroundings) {
  if (format == RecordingFormat::kHeaptrack) return WriteHeaptrackEvents(view, out);
  if (format == RecordingFormat::kPerfetto) return WritePerfettoTrace(view, out);
  if (format == RecordingFormat::kHtml) {
    return WriteRecordingPage(view, out, surroundings.read_source);
  }
  const std::optional<SnapshotFormat> profile = AsSnapshotFormat(format);
  WriteProfile(profile.value_or(SnapshotFormat::kFolded), out, surroundings, view.stacks(),
               {.image = view.contents().facts.name,
                .amounts = AmountsByStack(view.tally(), weigh),
                .words = WordsOf(weigh)});
  return {};
}

}  // namespace leakgate
