#include "runner/cli/profiler/top.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/cli/commands/documents.h"
#include "runner/cli/installation.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/terminal.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/profiling/live_watch.h"
#include "runner/region/amount.h"
#include "runner/report/finding_text.h"
#include "runner/run/program_watch.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_owner.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

// Without --top, on a terminal of unknown height and elsewhere.
constexpr std::size_t kUsualRows = 20;
constexpr std::size_t kUsualColumns = 120;

std::optional<int> AsPid(const std::string& text) {
  int pid = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), pid);
  const bool is_pid = problem == std::errc() && rest == text.data() + text.size() && pid > 0;
  return is_pid ? std::optional(pid) : std::nullopt;
}

// A session for a process that nobody traces. It ends with this object, and lets the process go.
class OwnSession {
 public:
  OwnSession() = default;
  ~OwnSession() { (void)End(); }
  OwnSession(const OwnSession&) = delete;
  OwnSession& operator=(const OwnSession&) = delete;

  Expected<void> Begin(int pid) {
    SessionStart start;
    start.name = fmt::format("top-{}", pid);
    start.scope.pids = {pid};
    start.agent = FindAgent();
    const Expected<void> started = StartSession(start);
    if (started) name_ = start.name;
    return started;
  }
  Expected<void> End() {
    const std::string name = std::exchange(name_, "");
    if (name.empty()) return {};
    LEAKGATE_TRY_ASSIGN(const StoppedSession stopped, StopSession(name));
    if (stopped.problems.empty()) return {};
    return InconclusiveError(fmt::format("still traced: {}", stopped.problems.front()));
  }

 private:
  std::string name_;
};

std::string SignedBytes(std::int64_t bytes) {
  const std::string text = FormatBytes(bytes);
  return bytes > 0 ? "+" + text : text;
}

std::string ProcessText(const WatchedProcess& process, const TextStyle& style) {
  const LiveLook& now = process.sites.now();
  const double recent = SecondsBetween(process.sites.before(), now);
  std::string text =
      Paint(fmt::format("{}, PID {}", Printable(process.Name()), process.status().pid),
            Emphasis::kHeading, style.colour) +
      (process.has_ended ? ": has ended\n" : "\n");
  text += "  live       " + FormatAmount(now.live);
  if (recent > 0) {
    text += fmt::format(", {} in {:.1f} s", FormatChange(now.live - process.sites.first().live),
                        SecondsBetween(process.sites.first(), now));
  }
  text += "\n";
  if (recent > 0) {
    const Amount allocated =
        AmountPerSecond(now.allocated - process.sites.before().allocated, recent);
    const Amount freed = AmountPerSecond(now.freed - process.sites.before().freed, recent);
    text += fmt::format("  a second   {} allocated, {} freed\n", FormatAmount(allocated),
                        FormatAmount(freed));
  }
  for (const std::string& line : MissingFrom(process.sites.contents())) {
    text += "  " + Paint("MISSING", Emphasis::kBad, style.colour) +
            fmt::format("    {}\n", Printable(line));
  }
  return text;
}

std::string RowText(const LiveWatch::Row& row, bool tells_pid, std::size_t columns,
                    const TextStyle& style) {
  const LiveSite& site = row.site;
  std::string line =
      fmt::format("  {:>11} {:>11} {:>11} {:>9}  ", SignedBytes(site.grown.bytes),
                  SignedBytes(site.recent.bytes), FormatBytes(site.live.bytes), site.live.blocks);
  if (tells_pid) line += fmt::format("{:>7}  ", row.process->status().pid);
  const std::size_t room = columns > line.size() + 10 ? columns - line.size() : 10;
  const std::string place =
      site.place.empty() ? "" : "  " + RelativePath(site.place, style.base_directory);
  const std::size_t for_place = std::min(Columns(place), room / 2);
  const std::string name = CutMiddle(Printable(site.name), room - for_place);
  line += site.is_users ? Paint(name, Emphasis::kOwnFrame, style.colour) : name;
  return line + CutMiddle(Printable(place), room - Columns(name)) + "\n";
}

// On a terminal, all fits on the screen.
std::string LookText(const LiveWatch& watch, const TopCommand& command, const ScreenSize& screen) {
  const TextStyle style = StyleOfStandardOutput();
  std::string text = fmt::format("leakgate top, {:%H:%M:%S}\n", fmt::localtime(std::time(nullptr)));
  for (const auto& [key, process] : watch.processes()) text += ProcessText(*process, style);
  if (watch.processes().empty()) return text + "  no process yet\n";

  const std::vector<LiveWatch::Row> rows = watch.Rows(command.order);
  std::size_t most = command.top.value_or(kUsualRows);
  if (!command.top && screen.rows != 0) {
    const auto above = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    most = screen.rows > above + 4 ? screen.rows - above - 4 : 1;
  }
  const bool tells_pid = watch.processes().size() > 1;
  text += fmt::format("       GROWTH        LAST        LIVE    BLOCKS  {}CALL SITE\n",
                      tells_pid ? "    PID  " : "");
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    text += RowText(rows[i], tells_pid, screen.rows == 0 ? kUsualColumns : screen.columns, style);
  }
  if (rows.size() > most) {
    text += fmt::format(
        "  and {}\n", FormatCount(static_cast<std::int64_t>(rows.size() - most), "more call site"));
  }
  return text;
}

nlohmann::ordered_json ToJson(const Amount& amount) {
  return {{"bytes", amount.bytes}, {"blocks", amount.blocks}};
}

// A line for each look.
nlohmann::ordered_json LookJson(const LiveWatch& watch, const TopCommand& command) {
  nlohmann::ordered_json json = {{"schema", "leakgate-top-1"}};
  nlohmann::ordered_json& processes = json["processes"] = nlohmann::ordered_json::array();
  for (const auto& [key, process] : watch.processes()) {
    const LiveSites& sites = process->sites;
    const double recent = SecondsBetween(sites.before(), sites.now());
    processes.push_back(
        {{"pid", process->status().pid},
         {"generation", process->status().generation},
         {"name", process->status().program.name},
         {"has_ended", process->has_ended},
         {"seconds", SecondsBetween(sites.first(), sites.now())},
         {"live", ToJson(sites.now().live)},
         {"grown", ToJson(sites.now().live - sites.first().live)},
         {"allocated_per_second",
          ToJson(AmountPerSecond(sites.now().allocated - sites.before().allocated, recent))},
         {"freed_per_second",
          ToJson(AmountPerSecond(sites.now().freed - sites.before().freed, recent))},
         {"missing", MissingFrom(sites.contents())}});
  }
  nlohmann::ordered_json& table = json["sites"] = nlohmann::ordered_json::array();
  const std::vector<LiveWatch::Row> rows = watch.Rows(command.order);
  for (std::size_t i = 0; i < std::min(command.top.value_or(rows.size()), rows.size()); ++i) {
    const LiveSite& site = rows[i].site;
    table.push_back({{"pid", rows[i].process->status().pid},
                     {"name", site.name},
                     {"place", site.place},
                     {"live", ToJson(site.live)},
                     {"grown", ToJson(site.grown)},
                     {"recent", ToJson(site.recent)}});
  }
  return json;
}

void Show(const LiveWatch& watch, const TopCommand& command) {
  if (command.output == OutputForm::kJson) {
    Print(stdout, ConsoleJson(LookJson(watch, command), -1));
    return;
  }
  const ScreenSize screen = ScreenOf(stdout);
  if (screen.rows != 0) ClearScreen(stdout);
  Print(stdout, LookText(watch, command, screen));
  if (screen.rows == 0) Print(stdout, "\n");
}

// Returns false if a signal asks for the end.
bool Wait(const BlockedSignals& signals, Clock::time_point until) {
  for (auto now = Clock::now(); now < until; now = Clock::now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    const auto signal = signals.Take(left);
    if (signal && AsksToEnd(signal->number)) return false;
  }
  return true;
}

Expected<void> FollowThrough(LiveWatch& watch, const TopCommand& command,
                             const BlockedSignals& signals) {
  for (std::uint64_t looks = 1;; ++looks) {
    const Clock::time_point next = Clock::now() + command.every;
    if (const Expected<void> looked = watch.Look(); !looked) return looked;
    Show(watch, command);
    if (watch.HasEnded() || !FlushOutput()) return {};
    if (command.most_looks && looks >= *command.most_looks) return {};
    if (!Wait(signals, next)) return {};
  }
}

const Choices<TopOrder>& Orders() {
  static const Choices<TopOrder> orders = {
      "ORDER",
      "order",
      "{}",
      {{"growth", TopOrder::kGrowth}, {"recent", TopOrder::kRecent}, {"live", TopOrder::kLive}}};
  return orders;
}

}  // namespace

void Declare(TopCommand& command, OptionList& options) {
  options.AddArgument("subject", TextWord("PID|SESSION"), command.subjects);
  options.Add("--every", TextWord("TIME"), command.every, ParseDuration,
              "How often to look: 500ms, 5s, 2min. Default: 1s");
  options.Add("--stop-after", TextWord("N"), command.most_looks, ParseCount,
              "End after N looks. Default: when the process ends, or at Ctrl-C");
  options.AddChoice("--order", Orders(), command.order,
                    "The largest first: growth since the first look (default), recent growth since "
                    "the look before, or what is live");
  options.Add("--top", TextWord("N"), command.top, ParseCount,
              "Show at most N call sites. Default: as many as fit on the terminal, else 20");
  options.Add("--symbols", FileWord("DIR"), command.reading.symbols,
              "Look for binaries and debug files here, too, by build-id. Repeatable");
  options.AddFlag("--json", command.output, OutputForm::kJson,
                  "A line for each look, for machines");
}

Expected<void> Complete(TopCommand& command, const ProgramLine& program) {
  if (const auto none = RequireNoProgram("top", program); !none) return none;
  if (command.subjects.size() != 1 || command.subjects.front().empty()) {
    return UsageError("name one process or session: leakgate top PID, leakgate top SESSION");
  }
  const std::string& subject = command.subjects.front();
  if (!AsPid(subject)) {
    LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto name, ParseSessionName("SESSION", subject));
  }
  const auto symbols = SymbolsOf(command.reading);
  return symbols ? Expected<void>() : Unexpected(symbols.error());
}

Expected<int> Execute(const TopCommand& command) {
  const BlockedSignals signals;
  const std::string& subject = command.subjects.front();
  const std::optional<int> pid = AsPid(subject);
  OwnSession own;
  if (pid && !UserOfProcess(*pid)) {
    return UsageError(fmt::format("there is no process with PID {}", *pid));
  }
  if (pid && !FindProcess(*pid)) {
    LEAKGATE_TRY(own.Begin(*pid));
  }
  LiveWatch watch({.session = pid ? "" : subject, .pid = pid, .new_symbolizer = [&command] {
                     return SymbolizerOf(command.reading);
                   }});
  const Expected<void> followed = FollowThrough(watch, command, signals);
  const Expected<void> ended = own.End();
  if (!followed) return Unexpected(followed.error());
  if (!ended) return Unexpected(ended.error());
  return kExitPass;
}

}  // namespace leakgate
