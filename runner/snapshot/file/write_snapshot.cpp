#include "runner/snapshot/file/write_snapshot.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

#include "runner/snapshot/file/describe_process.h"
#include "runner/snapshot/file/resident_pages.h"
#include "runner/snapshot/file/snapshot_writer.h"

namespace leakgate {

using snapshot_format::PartKind;

std::uint64_t MonotonicNow() {
  // steady_clock is CLOCK_MONOTONIC, as are the times of windows.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

SnapshotClosing ClosingOf(const RegionReader& region, std::uint32_t current_window) {
  SnapshotClosing closing;
  closing.finished_ns = MonotonicNow();
  closing.since_begin = region.CurrentTotals();
  closing.current_window = current_window;
  closing.window_count = region.WindowCount();
  closing.thread_count = region.ThreadCount();
  closing.agent_state = region.State();
  closing.agent_failure = std::min(region.Failure(), AgentFailure::kEntriesNotHooked);
  closing.program_end = std::min(region.End(), ProgramEnd::kImmediate);
  closing.boundaries = region.Boundaries();
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    closing.drops[i] = region.Drops(static_cast<DropReason>(i));
  }
  for (std::uint32_t i = 0; i < kUnwindEndCount; ++i) {
    closing.stack_ends[i] = region.StackEnds(static_cast<UnwindEnd>(i));
  }
  return closing;
}

namespace {

SnapshotFacts FactsOf(const RegionReader& region, const SnapshotRequest& request) {
  SnapshotFacts facts = request.facts;
  facts.taken_ns = MonotonicNow();
  facts.tracing_begin_ns = region.Window(1).begin_time_ns;
  return facts;
}

ResidentPages PagesOf(const RegionReader& region, const SnapshotRequest& request,
                      const std::vector<MappingCopy>& mappings) {
  ResidentPages pages;
  if (request.pages == Pages::kAsk && request.facts.moment != SnapshotMoment::kEnded) {
    pages = FindResidentPages(request.facts.pid, region, mappings);
  }
  if (request.facts.moment == SnapshotMoment::kEnded) pages.all.problem = "the process had ended";
  pages.mappings.resize(mappings.size());
  return pages;
}

void AddMappings(const RegionReader& region, const SnapshotRequest& request, SnapshotWriter& writer,
                 RegionRecords& records) {
  const std::vector<MappingCopy> mappings = region.Mappings();
  const ResidentPages pages = PagesOf(region, request, mappings);
  for (std::size_t i = 0; i < mappings.size(); ++i) records.Add(mappings[i], pages.mappings[i]);
  if (!mappings.empty()) writer.records().WriteAlone(PartKind::kPages, pages.all);
}

Expected<SnapshotClosing> Copy(const RegionReader& region, const SnapshotRequest& request,
                               SnapshotWriter& writer) {
  RegionRecords records(region, request.thread_name, writer.records());
  const std::uint32_t current = records.Window(region.CurrentWindow());
  LEAKGATE_TRY(
      region.VisitBlocks([&](std::span<const LiveBlock> blocks) { return records.Add(blocks); },
                         RegionReader::Pools::kLeftOut));
  AddMappings(region, request, writer, records);
  for (const FreedByCopy& freed : region.FreedBy()) records.Add(freed);
  for (const FreedByCopy& allocated : region.AllocatedBy()) records.AddAllocated(allocated);
  SnapshotClosing closing = ClosingOf(region, current);
  closing.drops[static_cast<std::size_t>(DropReason::kTextFull)] += records.left_out();
  if (request.copied) {
    LEAKGATE_TRY(request.copied());
  }
  return writer.Finish(closing);
}

}  // namespace

Expected<SnapshotClosing> WriteSnapshot(const RegionReader& region, const SnapshotRequest& request,
                                        const std::filesystem::path& path) {
  LEAKGATE_TRY_ASSIGN(SnapshotWriter writer,
                      SnapshotWriter::Create(path, FactsOf(region, request)));
  return Copy(region, request, writer);
}

Expected<std::string> SnapshotText(const RegionReader& region, const SnapshotRequest& request) {
  std::ostringstream text;
  SnapshotWriter writer(text, FactsOf(region, request));
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto closing, Copy(region, request, writer));
  return std::move(text).str();
}

}  // namespace leakgate
