#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/cli/profiler/session.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/snapshot/view/make_bundle.h"
#include "runner/snapshot/view/show_bundle.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// What a session has recorded of its processes, and of which of them there is no snapshot, and why.
struct OfSession {
  struct Snapshot {
    std::string wanted_name;
    std::string bytes;
  };
  std::vector<Snapshot> snapshots{};
  Json missed = Json::array();
};

Expected<std::string> TakeText(const std::string& session, const ProcessStatus& process) {
  LEAKGATE_TRY_ASSIGN(auto found, ProcessOfSession(session, process.pid, process.generation));
  LEAKGATE_TRY_ASSIGN(const auto subject, SnapshotSubject::Of(std::move(found)));
  return subject.Text(Pages::kAsk);
}

OfSession TakeOf(const SessionStatus& session) {
  OfSession taken;
  for (const ProcessStatus& process : session.processes) {
    Expected<std::string> bytes = TakeText(session.name, process);
    if (bytes) {
      const std::string image = FileNameIn(process.program.name);
      taken.snapshots.push_back(
          {fmt::format("{}-{}.snapshot", image, process.pid), *std::move(bytes)});
      continue;
    }
    const std::string why = process.problem.empty() ? bytes.error().message : process.problem;
    PrintMessage(fmt::format("no snapshot of PID {}: {}", process.pid, why));
    taken.missed.push_back({{"pid", process.pid}, {"name", process.program.name}, {"why", why}});
  }
  return taken;
}

// Takes a snapshot of each process of a session. Returns what the manifest tells of it.
Expected<Json> AddSession(const std::string& name, BundleMaker& bundle) {
  if (name.empty()) return Json(nullptr);
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(name));
  OfSession taken = TakeOf(status);
  for (auto& [wanted_name, bytes] : taken.snapshots) {
    LEAKGATE_TRY(bundle.Add(wanted_name, std::move(bytes)));
  }
  Json session = Json::parse(SessionJson(status));
  session["text"] = SessionText(status, Colour::kOff);
  session["missed"] = std::move(taken.missed);
  return session;
}

Expected<std::size_t> WriteBundle(const SnapshotBundleCommand& command) {
  LEAKGATE_TRY_ASSIGN(BundleMaker bundle, BundleMaker::Create(command.symbols, [&command] {
                        return SymbolizerOf(command.reading);
                      }));
  LEAKGATE_TRY(bundle.AddFiles(command.files));
  LEAKGATE_TRY_ASSIGN(Json session, AddSession(command.session, bundle));
  return bundle.Finish(command.output, std::move(session));
}

}  // namespace

void Declare(SnapshotBundleCommand& command, OptionList& options) {
  options.AddArgument("file", FileWord("FILE|DIR"), command.files);
  options.Add("-o,--output", FileWord("FILE"), command.output,
              "The bundle to write, which is a zip archive");
  options.Add("--session", TextWord("NAME"), command.session, ParseSessionName,
              "Take a snapshot of each process of this session, too, and tell what the session "
              "knows of them");
  options.AddFlag("--with-symbols", command.symbols, BundledSymbols::kIncluded,
                  "Look up functions, files and lines now, so that it needs no binaries to be "
                  "shown");
  options.Add("--symbols", FileWord("DIR"), command.reading.symbols,
              "With --with-symbols: look for binaries and debug files here, too, by build-id. "
              "Repeatable");
}

Expected<void> Complete(SnapshotBundleCommand& command, const ProgramLine&) {
  if (command.output.empty()) {
    return UsageError("no bundle to write; name it: leakgate snapshot bundle ... -o hunt.zip");
  }
  if (command.files.empty() && command.session.empty()) {
    return UsageError(
        "nothing to bundle; name snapshots, directories of them, or a session: leakgate snapshot "
        "bundle --session NAME -o hunt.zip");
  }
  if (!command.reading.symbols.empty() && command.symbols == BundledSymbols::kLeftOut) {
    return UsageError("--symbols is for --with-symbols; add it, or leave it out");
  }
  return {};
}

Expected<int> Execute(const SnapshotBundleCommand& command) {
  std::error_code unknown;
  if (fs::is_regular_file(command.output, unknown)) {
    return UsageError(fmt::format("-o {}: exists already; remove it, or name another file",
                                  PathText(command.output)));
  }
  LEAKGATE_TRY(AtomicFile::CheckPlace(command.output));
  const WithDebugServers servers;
  LEAKGATE_TRY_ASSIGN(const std::size_t count, WriteBundle(command));
  Print(stderr, fmt::format("leakgate: {0}: {1}\n  look at it:  leakgate snapshot show {0}\n",
                            Printable(PathText(command.output)),
                            FormatCount(static_cast<std::int64_t>(count), "snapshot")));
  return kExitPass;
}

Expected<int> ShowBundle(const fs::path& bundle, OutputForm form) {
  std::string text;
  Json json;
  LEAKGATE_TRY(ListBundle(bundle, text, json));
  if (form == OutputForm::kJson) {
    PrintJson(json);
  } else {
    Print(stdout, text);
  }
  return kExitPass;
}

}  // namespace leakgate
