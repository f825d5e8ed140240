#include "runner/cli/heap_tracing/recording_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runner/base/file_access.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostListed = 10;

std::string BytesAndBlocks(std::uint64_t bytes, std::uint64_t blocks) {
  return fmt::format("{} in {} block{}", FormatBytes(static_cast<std::int64_t>(bytes)), blocks,
                     blocks == 1 ? "" : "s");
}

std::string NameOf(const EtlProcess& process) {
  return process.image.empty() ? fmt::format("PID {}", process.pid)
                               : fmt::format("{} (PID {})", process.image, process.pid);
}

// "7 (a.exe, 12 events), 8 (3 events)".
std::string ListOf(const std::vector<EtlProcess>& processes) {
  std::string list;
  for (const EtlProcess& process : processes) {
    if (&process - processes.data() == kMostListed) return list + ", ...";
    list += fmt::format("{}{} ({}{}{} events)", list.empty() ? "" : ", ", process.pid,
                        process.image, process.image.empty() ? "" : ", ", process.heap_events);
  }
  return list;
}

// What makes the result a doubtful one, and what does not. Each line is empty if there is nothing.
struct DoubtLines {
  std::string lacks;
  std::string notes;
};
DoubtLines DoubtsOf(const EtlProcess& process, const EtlGaps& gaps) {
  DoubtLines lines = {DescribeGaps(gaps), ""};
  const std::string mixed = process.is_mixed ? "two processes with one PID" : "";
  for (const std::string& lack : {DescribeLosses(DoubtfulLosses(process)), mixed}) {
    if (!lines.lacks.empty() && !lack.empty()) lines.lacks += ", ";
    lines.lacks += lack;
  }
  TraceLosses notes;
  notes.unknown_blocks = process.losses.unknown_blocks;
  notes.blocks_without_stack = process.losses.blocks_without_stack;
  lines.notes = DescribeLosses(notes);
  return lines;
}

}  // namespace

void Declare(RecordingImportCommand& command, OptionList& options) {
  options.AddArgument("FILE", FileWord("FILE"), command.file);
  options.Add("--pid", TextWord("PID"), command.pid, ParsePid,
              "The process whose heaps are shown, where the file has several");
  options.Add("--top", TextWord("N"), command.top, ParseCount,
              "Show the N call stacks with the most bytes. Default: 10");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines: all call stacks");
}

Expected<void> Complete(RecordingImportCommand& command, const ProgramLine& program) {
  if (!command.file.empty() && program.empty()) return {};
  return UsageError("name one .etl file; for example: leakgate recording import trace.etl");
}

Expected<EtlProcess> ChooseProcess(const EtlHeaps& heaps, int pid) {
  const std::vector<EtlProcess>& all = heaps.processes;
  if (all.empty() && heaps.gaps.heap_snapshots != 0) {
    return InconclusiveError(
        "it has only heap snapshots of wpr, whose layout is not public; open it in WPA, or record "
        "with: wpr -start Heap -filemode");
  }
  if (all.empty()) {
    const std::string lacks = DescribeGaps(heaps.gaps);
    return InconclusiveError(fmt::format(
        "it has no events of heaps{}; have the image traced (leakgate session start) and recorded "
        "(wpr -start Heap -filemode) before the program starts",
        lacks.empty() ? "" : " (" + lacks + ")"));
  }
  if (pid == 0 && all.size() == 1) return all.front();
  const auto found = std::ranges::find(all, static_cast<std::uint32_t>(pid), &EtlProcess::pid);
  if (found != all.end()) return *found;
  return UsageError(fmt::format(
      "{}; it has heaps of: {}; name one with --pid",
      pid == 0 ? std::string("it has several processes") : fmt::format("PID {} is not in it", pid),
      ListOf(all)));
}

std::string ImportText(const EtlProcess& process, const EtlGaps& gaps, std::uint64_t top) {
  std::string text =
      fmt::format("{}: {} live at the end, by {} call stack{}\n", Printable(NameOf(process)),
                  BytesAndBlocks(process.bytes, process.blocks), process.groups.size(),
                  process.groups.size() == 1 ? "" : "s");
  for (const EtlStackGroup& group : process.groups) {
    if (top-- == 0) {
      text += fmt::format("\n  --top {} shows all\n", process.groups.size());
      break;
    }
    text += fmt::format("\n  {}\n", BytesAndBlocks(group.bytes, group.blocks));
    for (const std::string& frame : group.frames) text += fmt::format("    {}\n", Printable(frame));
    if (group.frames.empty()) text += "    no call stack\n";
  }
  const DoubtLines doubts = DoubtsOf(process, gaps);
  if (!doubts.lacks.empty()) {
    text += fmt::format("\nincomplete: {}\n  what is shown may have been freed\n", doubts.lacks);
  }
  if (!doubts.notes.empty()) {
    text += fmt::format("\nfrom before the recording, or without a stack: {}\n", doubts.notes);
  }
  return text;
}

std::string ImportJson(const EtlProcess& process, const EtlGaps& gaps) {
  auto groups = nlohmann::ordered_json::array();
  for (const EtlStackGroup& group : process.groups) {
    groups.push_back({{"bytes", group.bytes}, {"blocks", group.blocks}, {"frames", group.frames}});
  }
  const DoubtLines doubts = DoubtsOf(process, gaps);
  return ConsoleJson(nlohmann::ordered_json{{"pid", process.pid},
                                            {"image", process.image},
                                            {"bytes", process.bytes},
                                            {"blocks", process.blocks},
                                            {"is_whole", IsWhole(process, gaps)},
                                            {"lacks", doubts.lacks},
                                            {"notes", doubts.notes},
                                            {"stacks", std::move(groups)}},
                     2);
}

Expected<int> Execute(const RecordingImportCommand& command) {
  const auto in_file = [&](Error error) -> Unexpected {
    error.message = fmt::format("{}: {}", PathText(command.file), error.message);
    return Unexpected(std::move(error));
  };
  const auto file = OpenRegularFile(command.file);
  if (!file) {
    return in_file({fmt::format("cannot be read: {}; name another file", file.error().message()),
                    ExitCode::kUsage});
  }
  const ReadEtlBytes read = [&](std::byte* to, std::size_t size, std::uint64_t offset) {
    return ReadAt(*file, reinterpret_cast<char*>(to), size, offset);
  };
  const Expected<EtlHeaps> heaps = ReadEtlHeaps(read, static_cast<std::uint32_t>(command.pid));
  if (!heaps) return in_file(heaps.error());
  const Expected<EtlProcess> process = ChooseProcess(*heaps, command.pid);
  if (!process) return in_file(process.error());
  Print(stdout, command.output == OutputForm::kJson
                    ? ImportJson(*process, heaps->gaps)
                    : ImportText(*process, heaps->gaps, command.top));
  return IsWhole(*process, heaps->gaps) ? kExitPass : static_cast<int>(ExitCode::kInconclusive);
}

}  // namespace leakgate
