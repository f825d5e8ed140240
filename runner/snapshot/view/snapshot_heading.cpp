// Shows the facts about the whole snapshot, as text and as JSON.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/base/word_table.h"
#include "runner/region/amount.h"
#include "runner/region/region_words.h"
#include "runner/result/words.h"
#include "runner/snapshot/view/heading_text.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::chrono::nanoseconds Between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return std::chrono::nanoseconds(end_ns > begin_ns ? end_ns - begin_ns : 0);
}

std::string TakenText(const SnapshotFacts& facts) {
  std::string text = UtcText(facts.taken_unix_ns, "{:%Y-%m-%d %H:%M:%S} UTC");
  if (facts.tracing_begin_ns != 0) {
    text += fmt::format(", {} after tracing began",
                        FormatDuration(Between(facts.tracing_begin_ns, facts.taken_ns)));
  }
  return facts.occasion.empty() ? text : text + ": " + facts.occasion;
}

std::string MachineText(const SnapshotFacts& facts) {
  return fmt::format("{}, {}; leakgate {}", facts.host, facts.kernel, facts.leakgate_version);
}

std::string CommandText(const SnapshotFacts& facts) {
  return fmt::format("{}", fmt::join(facts.command_line, " "));
}

// `copying` is how long the copying took: empty if that is not known.
std::string MomentText(SnapshotMoment moment, const std::string& copying) {
  switch (moment) {
    case SnapshotMoment::kEnded:
      return "the process had ended";
    case SnapshotMoment::kStopped:
      return "all blocks are of one moment";
    case SnapshotMoment::kRunning:
      break;
  }
  return fmt::format(
      "the process ran on while it was copied{}: blocks may be of different moments in it",
      copying.empty() ? "" : ", for " + copying);
}

std::string MomentText(const SnapshotContents& contents) {
  return MomentText(contents.facts.moment,
                    FormatDuration(Between(contents.facts.taken_ns, contents.closing.finished_ns)));
}

std::string SinceBeginText(const Totals& totals) {
  return fmt::format("{} since tracing began, and {} of that freed",
                     FormatAmount(AllocatedIn(totals)), FormatAmount(FreedIn(totals)));
}

// Returns an empty text for the default events.
std::string StacksText(const SnapshotFacts& facts) {
  if (facts.stack_events == kDefaultStackEvents) return "";
  const std::uint32_t taken = facts.stack_events & kAllStackEvents;
  const std::uint32_t others = kAllStackEvents & ~taken;
  std::string text = fmt::format("taken of {}{}", StackEventsText(taken),
                                 others == 0 ? "" : "; not of " + StackEventsText(others));
  if (taken == 0) text = "taken of nothing (--stacks none)";
  if ((facts.stack_events & kCountsAllocations) == 0) return text;
  return text + "; what each has allocated is counted (churn)";
}

std::string AmountText(const MappedAmount& mapped) {
  std::string text = fmt::format("{} in {}", FormatBytes(mapped.committed_bytes),
                                 FormatCount(mapped.mappings, "mapping"));
  if (mapped.reserved_bytes != 0) {
    text += fmt::format(", and {} only reserved", FormatBytes(mapped.reserved_bytes));
  }
  return text;
}

std::string MappedInAllText(const SnapshotContents& contents) {
  if (contents.mappings.empty()) return "";
  return AmountText(MappedIn(contents)) + ": by the program itself, besides what is live";
}

constexpr std::array kMoments = {
    Named{SnapshotMoment::kRunning, "running"},
    Named{SnapshotMoment::kStopped, "stopped"},
    Named{SnapshotMoment::kEnded, "ended"},
};

Json AmountJson(const Amount& amount) {
  return {{"bytes", amount.bytes}, {"blocks", amount.blocks}};
}

}  // namespace

std::string UtcText(std::uint64_t unix_ns, const char* format) {
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  return fmt::format(fmt::runtime(format), fmt::gmtime(seconds));
}

std::string ExactAmount(Amount amount) {
  const std::string human = FormatBytes(amount.bytes);
  const std::string exact = fmt::format("{} B", amount.bytes);
  return fmt::format("{}{} in {}", human, human == exact ? "" : fmt::format(" ({})", exact),
                     FormatCount(amount.blocks, "block"));
}

std::string MissingText(const std::vector<std::string>& missing, std::size_t key_columns,
                        const TextStyle& style) {
  constexpr std::string_view kKey = "MISSING";
  const std::string gap(key_columns - kKey.size() + 1, ' ');
  std::string text;
  for (const std::string& line : missing) {
    text += "  " + Paint(kKey, Emphasis::kBad, style.colour) + gap + Printable(line) + "\n";
  }
  return text;
}

std::vector<std::string> DropsText(const SnapshotClosing& closing) {
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    if (closing.drops[i] == 0) continue;
    lines.push_back(fmt::format("{} events could not be recorded ({})", closing.drops[i],
                                Word(static_cast<DropReason>(i))));
  }
  return lines;
}

std::vector<std::string> MissingFrom(const SnapshotContents& contents) {
  std::vector<std::string> lines = contents.facts.not_recorded;
  if (contents.closing.agent_state != AgentState::kTracing) {
    lines.emplace_back("the agent did not trace the process");
  }
  for (std::string& line : DropsText(contents.closing)) lines.push_back(std::move(line));
  return lines;
}

std::vector<FactLine> LinesOf(const SnapshotFacts& facts) {
  return {{"taken", TakenText(facts)},
          {"command", CommandText(facts)},
          {"machine", MachineText(facts)},
          {"state", MomentText(facts.moment, "")},
          {"stacks", StacksText(facts)}};
}

std::vector<FactLine> HeadingLines(SnapshotView& view, SnapshotThings shown) {
  const SnapshotContents& contents = view.contents();
  const SnapshotFacts& facts = contents.facts;
  const SnapshotClosing& closing = contents.closing;
  std::vector<FactLine> lines = {{"taken", TakenText(facts)},
                                 {"command", CommandText(facts)},
                                 {"machine", MachineText(facts)},
                                 {"state", MomentText(contents)}};
  if (closing.current_window != 0) {
    lines.push_back({"window", NameOfWindow(contents, closing.current_window)});
  }
  lines.push_back({"live", ExactAmount(AmountOf(closing.bytes, closing.blocks))});
  lines.push_back({"allocated", SinceBeginText(closing.since_begin)});
  lines.push_back({"mapped", MappedInAllText(contents)});
  lines.push_back({"resident", ResidentText(contents)});
  lines.push_back({"stacks", StacksText(facts)});
  if (view.stacks().IsFiltered()) {
    const std::string amount = shown == SnapshotThings::kBlocks ? ExactAmount(view.tally().total())
                                                                : AmountText(ShownMapped(view));
    lines.push_back({"shown", fmt::format("{} {}", amount, FilterText(view.stacks().query()))});
  }
  return lines;
}

std::string SnapshotHeading(SnapshotView& view, SnapshotThings shown, const TextStyle& style) {
  const SnapshotFacts& facts = view.contents().facts;
  const std::string name = facts.name.empty() ? "an unknown program" : facts.name;
  std::string text = Paint(fmt::format("snapshot of {}, PID {}", Printable(name), facts.pid),
                           Emphasis::kHeading, style.colour) +
                     "\n";
  for (const FactLine& line : HeadingLines(view, shown)) {
    if (line.text.empty()) continue;
    text += fmt::format("  {:<10} {}\n", line.key, Printable(line.text));
  }
  return text + MissingText(MissingFrom(view.contents()), 10, style);
}

Json SnapshotFactsJson(SnapshotView& view) {
  const SnapshotContents& contents = view.contents();
  const SnapshotFacts& facts = contents.facts;
  const SnapshotClosing& closing = contents.closing;
  Json json = {
      {"file", contents.file},
      {"image", facts.image},
      {"name", facts.name},
      {"pid", facts.pid},
      {"generation", facts.generation},
      {"command_line", facts.command_line},
      {"occasion", facts.occasion},
      {"taken", UtcText(facts.taken_unix_ns, "{:%Y-%m-%dT%H:%M:%SZ}")},
      {"seconds_since_begin",
       std::chrono::duration<double>(Between(facts.tracing_begin_ns, facts.taken_ns)).count()},
      {"state", WordIn(kMoments, facts.moment)},
      {"host", facts.host},
      {"kernel", facts.kernel},
      {"leakgate_version", facts.leakgate_version},
      {"stack_depth", facts.stack_depth},
      {"stacks", StackEventNames(facts.stack_events)},
      {"missing", MissingFrom(contents)}};
  json["window"] = closing.current_window == 0
                       ? Json(nullptr)
                       : Json(NameOfWindow(contents, closing.current_window));
  json["live"] = AmountJson(AmountOf(closing.bytes, closing.blocks));
  json["mapped"] = MappedJson(MappedIn(contents));
  json["mapped"]["unassigned_lazily_freed_bytes"] = contents.pages.unassigned_lazily_freed_bytes;
  const std::string problem = contents.mappings.empty() ? "" : PagesProblem(contents.pages);
  if (!problem.empty()) json["mapped"]["pages_problem"] = problem;
  json["allocated"] = AmountJson(AllocatedIn(closing.since_begin));
  json["freed"] = AmountJson(FreedIn(closing.since_begin));
  return json;
}

}  // namespace leakgate
