#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "runner/cli/profiler/session.h"
#include "runner/cli/terminal.h"
#include "runner/region/amount.h"
#include "runner/region/region_words.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string FileNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string NameOf(const ProcessStatus& process) { return FileNameOf(process.program.name); }

std::vector<std::string> NamesOf(const SessionScope& scope) {
  std::vector<std::string> names;
  for (const ImageSelector& image : scope.images) names.push_back(TextOf(image));
  for (const int pid : scope.pids) names.push_back(fmt::format("PID {}", pid));
  return names;
}

std::string NamesText(const SessionScope& scope) {
  const std::vector<std::string> names = NamesOf(scope);
  return names.empty() ? "nothing that starts later"
                       : Printable(fmt::format("{}", fmt::join(names, ", ")));
}

// Returns text such as ", of this user, wherever they start"; empty if only what starts below is
// traced.
std::string ReachText(const SessionStatus& session) {
  switch (session.watch.reach) {
    case SessionReach::kThisUser:
      return " wherever this user starts it";
    case SessionReach::kSystem:
      return session.scope.users.are_all ? " whoever starts it" : " wherever it starts";
    case SessionReach::kBelow:
      break;
  }
  return "";
}

// Returns text such as "2026-11-21 14:03:22", in local time.
std::string TimeText(std::int64_t seconds) {
  const std::time_t time = seconds;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(time));
}

std::string ExpiryText(const SessionStatus& session) {
  return session.expires_seconds == 0 ? "" : "until " + TimeText(session.expires_seconds);
}

// How processes are found, in lines.
std::string WatchText(const WatchStatus& watch) {
  std::string text;
  if (watch.is_holding) {
    text += "  each program of a local file system is held when it begins\n";
  } else if (watch.reach != SessionReach::kBelow) {
    if (!watch.why_not_held.empty()) {
      text += fmt::format("  programs are not held: {}\n", Printable(watch.why_not_held));
    }
    text += "  processes are found while they run, and traced from then on\n";
  }
  if (watch.unseen != 0) {
    text +=
        fmt::format("  {} processes or threads of any program {} before they could be looked at\n",
                    watch.unseen, watch.reach == SessionReach::kSystem ? "began" : "ended");
  }
  if (!watch.ran_before.empty()) {
    text += fmt::format("  ran before the session, and not traced: PID {}\n",
                        fmt::join(watch.ran_before, ", "));
  }
  if (!watch.let_go.empty()) {
    text += fmt::format(
        "  let go for a while, because a program kept leakgate waiting: all programs of UID {}\n",
        fmt::join(watch.let_go, ", "));
  }
  return text;
}

std::string Processes(std::uint64_t count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

std::string RingText(const RingStatus& ring) {
  if (ring.directory.empty()) return "";
  std::string text =
      fmt::format("  snapshots in {}: {} in {}, {} taken\n", Printable(ring.directory),
                  FormatBytes(static_cast<std::int64_t>(ring.bytes)),
                  FormatCount(static_cast<std::int64_t>(ring.files), "file"), ring.taken);
  if (ring.without_last != 0) {
    text += fmt::format("  {} ended, and went before a last snapshot could be taken\n",
                        Processes(ring.without_last));
  }
  if (!ring.problem.empty()) {
    text += fmt::format("  the last snapshot that failed: {}\n", Printable(ring.problem));
  }
  return text;
}

std::int64_t CountLive(const SessionStatus& session) {
  return std::count_if(
      session.processes.begin(), session.processes.end(), [](const ProcessStatus& process) {
        return process.state == ProcessState::kTracing || process.state == ProcessState::kStarting;
      });
}

// Returns text such as ", 3 not traced"; empty if all are traced.
std::string UntracedText(const SessionStatus& session) {
  return session.untraced == 0 ? "" : fmt::format(", {} not traced", session.untraced);
}

Emphasis EmphasisOf(ProcessState state) {
  switch (state) {
    case ProcessState::kTracing:
      return Emphasis::kGood;
    case ProcessState::kFailed:
      return Emphasis::kBad;
    case ProcessState::kStarting:
    case ProcessState::kDisabled:
    case ProcessState::kEnded:
      break;
  }
  return Emphasis::kInTheDistance;
}

std::string ProcessText(const ProcessStatus& process, std::size_t name_columns, Colour colour) {
  const std::string state =
      Paint(PadRight(WordOf(process.state), 8), EmphasisOf(process.state), colour);
  std::string text = fmt::format("  {:>7}  {}  {}", process.pid,
                                 PadRight(Printable(NameOf(process)), name_columns), state);
  if (!process.problem.empty()) return text + "  " + Printable(process.problem) + '\n';
  text += fmt::format("  {} live, {} allocated", FormatAmount(LiveIn(process.totals)),
                      FormatAmount(AllocatedIn(process.totals)));
  if (process.drops != 0) {
    text += fmt::format(", {} not recorded",
                        FormatCount(static_cast<std::int64_t>(process.drops), "event"));
  }
  if (process.attached_seconds != 0) {
    text +=
        fmt::format("; not known: what it allocated before {}", TimeText(process.attached_seconds));
  }
  if (!process.recording_problem.empty()) {
    text +=
        fmt::format("\n           its recording fails: {}", Printable(process.recording_problem));
  }
  return text + '\n';
}

Json AmountJson(Amount amount) { return {{"bytes", amount.bytes}, {"blocks", amount.blocks}}; }

Json ProcessJson(const ProcessStatus& process) {
  Json json = {{"pid", process.pid},
               {"path", process.program.path},
               {"name", process.program.name},
               {"arguments", process.program.arguments},
               {"state", WordOf(process.state)},
               {"live", AmountJson(LiveIn(process.totals))},
               {"allocated", AmountJson(AllocatedIn(process.totals))},
               {"drops", process.drops}};
  if (process.begin_seconds != 0) json["begin_seconds"] = process.begin_seconds;
  if (!process.problem.empty()) json["problem"] = process.problem;
  if (!process.recording_problem.empty()) json["recording_problem"] = process.recording_problem;
  if (process.attached_seconds != 0) json["attached_seconds"] = process.attached_seconds;
  return json;
}

Json RingJson(const RingStatus& ring) {
  return {{"directory", ring.directory}, {"files", ring.files},
          {"bytes", ring.bytes},         {"taken", ring.taken},
          {"problem", ring.problem},     {"without_last", ring.without_last}};
}

Json ToOrderedJson(const SessionStatus& session) {
  Json images = Json::array();
  for (const ImageSelector& image : session.scope.images) images.push_back(TextOf(image));
  Json processes = Json::array();
  for (const ProcessStatus& process : session.processes) {
    processes.push_back(ProcessJson(process));
  }
  const Json ring = session.ring.directory.empty() ? Json() : RingJson(session.ring);
  return {{"name", session.name},
          {"owner_pid", session.owner_pid},
          {"begin_seconds", session.begin_seconds},
          {"stack_depth", session.stack_depth},
          {"stacks", StackEventNames(session.stack_events)},
          {"images", std::move(images)},
          {"pids", session.scope.pids},
          {"uids", session.scope.users.uids},
          {"all_users", session.scope.users.are_all},
          {"reach", Word(session.watch.reach)},
          {"is_holding", session.watch.is_holding},
          {"why_not_held", session.watch.why_not_held},
          {"unseen", session.watch.unseen},
          {"ran_before", session.watch.ran_before},
          {"let_go", session.watch.let_go},
          {"expires_seconds", session.expires_seconds},
          {"snapshots", ring},
          {"forgotten", session.forgotten},
          {"kept_bytes", session.kept_bytes},
          {"most_kept_bytes", session.most_kept_bytes},
          {"failure", session.failure},
          {"untraced", session.untraced},
          {"processes", std::move(processes)}};
}

std::string PrintedJson(const Json& json) { return ConsoleJson(json, 1); }

}  // namespace

std::string StartedText(const SessionStatus& session) {
  const std::string name = Printable(session.name);
  std::string text = fmt::format(
      "leakgate: the session {} traces {}{}\n", name,
      Printable(fmt::format("{}", fmt::join(NamesOf(session.scope), ", "))), ReachText(session));
  text += WatchText(session.watch);
  if (session.expires_seconds != 0) text += fmt::format("  {}\n", ExpiryText(session));
  if (!session.scope.images.empty() && session.watch.reach == SessionReach::kBelow) {
    text += fmt::format("  start programs below it:  leakgate session exec {} -- COMMAND\n", name);
  }
  text += fmt::format(
      "  see what it has:          leakgate session query {0}\n"
      "  end it:                   leakgate session stop {0}\n",
      name);
  return text;
}

std::string SessionText(const SessionStatus& session, Colour colour) {
  std::string text = fmt::format("session {}, owner PID {}, since {}\n", Printable(session.name),
                                 session.owner_pid, TimeText(session.begin_seconds));
  text += fmt::format("  traces {}{}\n", NamesText(session.scope), ReachText(session));
  if (session.expires_seconds != 0) text += fmt::format("  {}\n", ExpiryText(session));
  text += WatchText(session.watch);
  text += RingText(session.ring);
  text += fmt::format("  stacks of {}\n", StackEventsText(session.stack_events));
  std::size_t columns = 0;
  for (const ProcessStatus& process : session.processes) {
    columns = std::max(columns, Columns(NameOf(process)));
  }
  for (const ProcessStatus& process : session.processes) {
    text += ProcessText(process, columns, colour);
  }
  if (session.processes.empty()) text += "  no process yet\n";
  if (session.forgotten != 0) {
    text += fmt::format(
        "  {} that ended earlier {} not kept: 256 may be, in {} of memory; take snapshots sooner "
        "(--snapshots)\n",
        Processes(session.forgotten), session.forgotten == 1 ? "is" : "are",
        FormatBytes(static_cast<std::int64_t>(session.most_kept_bytes)));
  }
  if (session.untraced != 0) {
    text += fmt::format("  {} could not be traced\n", Processes(session.untraced));
  }
  if (!session.failure.empty()) text += fmt::format("  {}\n", Printable(session.failure));
  return text;
}

std::string SessionJson(const SessionStatus& session) {
  return PrintedJson(ToOrderedJson(session));
}

std::string SessionListText(const std::vector<SessionStatus>& sessions,
                            const std::vector<RunStatus>& runs,
                            const std::vector<Orphan>& orphans) {
  std::string text;
  if (sessions.empty()) {
    text = "no session; start one: leakgate session start NAME --image IMAGE\n";
  }
  for (const SessionStatus& session : sessions) {
    const std::string expiry = ExpiryText(session);
    text += fmt::format("{}  owner PID {}, since {}{}{}, {} live{}, traces {}{}\n",
                        Printable(session.name), session.owner_pid, TimeText(session.begin_seconds),
                        expiry.empty() ? "" : " ", expiry, CountLive(session),
                        UntracedText(session), NamesText(session.scope), ReachText(session));
  }
  for (const RunStatus& run : runs) {
    for (const ProcessStatus& process : run.processes) {
      text += fmt::format("PID {} ({}), {}, {} live: of the run with PID {}\n", process.pid,
                          Printable(NameOf(process)), WordOf(process.state),
                          FormatAmount(LiveIn(process.totals)), run.run_pid);
    }
  }
  for (const Orphan& orphan : orphans) {
    text += fmt::format(
        "PID {} ({}) is traced for an owner that has ended (PID {}); end that: leakgate session "
        "list --clear\n",
        orphan.pid, Printable(FileNameOf(orphan.name)), orphan.owner_pid);
  }
  return text;
}

std::string SessionListJson(const std::vector<SessionStatus>& sessions,
                            const std::vector<RunStatus>& runs,
                            const std::vector<Orphan>& orphans) {
  Json list = Json::array();
  for (const SessionStatus& session : sessions) list.push_back(ToOrderedJson(session));
  Json running = Json::array();
  for (const RunStatus& run : runs) {
    Json processes = Json::array();
    for (const ProcessStatus& process : run.processes) {
      processes.push_back(ProcessJson(process));
    }
    running.push_back({{"pid", run.run_pid}, {"processes", std::move(processes)}});
  }
  Json left = Json::array();
  for (const Orphan& orphan : orphans) {
    left.push_back({{"pid", orphan.pid},
                    {"path", orphan.image},
                    {"name", orphan.name},
                    {"owner_pid", orphan.owner_pid}});
  }
  return PrintedJson(
      {{"sessions", std::move(list)}, {"runs", std::move(running)}, {"orphans", std::move(left)}});
}

}  // namespace leakgate
