#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "runner/base/atomic_file.h"
#include "runner/base/regular_file.h"
#include "runner/cli/profiler/session.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/report/json/json_text.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/view/look_up_symbols.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostSnapshotBytes = 0xffff'fffe;  // of one in a bundle

// A file's content, before it is in the bundle.
struct Content {
  std::string origin;  // for messages
  std::string name;    // in the bundle
  std::string bytes;
};

// Names that nothing in the bundle has yet.
class FreeNames {
 public:
  std::string Take(const std::string& wanted) {
    const fs::path path(wanted);
    std::string name = wanted;
    for (int i = 2; !taken_.insert(name).second; ++i) {
      name = fmt::format("{}-{}{}", path.stem().string(), i, path.extension().string());
    }
    return name;
  }

 private:
  std::set<std::string> taken_;
};

Expected<std::vector<fs::path>> FilesOf(const std::vector<fs::path>& given) {
  std::vector<fs::path> files;
  for (const fs::path& path : given) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<fs::path> inside;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".snapshot") inside.push_back(entry->path());
    }
    if (error) {
      return UsageError(
          fmt::format("{}: cannot read the directory: {}", path.string(), error.message()));
    }
    if (inside.empty()) {
      return UsageError(fmt::format("{}: there is no *.snapshot in this directory", path.string()));
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

Expected<Content> ReadContent(const fs::path& file, FreeNames& names) {
  auto bytes = ReadRegularFile(file, kMostSnapshotBytes);
  if (!bytes) {
    return UsageError(fmt::format("{}: cannot be read: {}; name a snapshot file", file.string(),
                                  bytes.error().message()));
  }
  return Content{file.string(), names.Take(file.stem().string() + ".snapshot"), *std::move(bytes)};
}

// What a session has recorded of its processes, and of which of them there is no snapshot, and why.
struct OfSession {
  std::vector<Content> contents{};
  Json missed = Json::array();
};

Expected<std::string> TakeText(const std::string& session, const ProcessStatus& process) {
  LEAKGATE_TRY_ASSIGN(auto found, ProcessOfSession(session, process.pid, process.generation));
  LEAKGATE_TRY_ASSIGN(const auto subject, SnapshotSubject::Of(std::move(found)));
  return subject.Text(Pages::kAsk);
}

OfSession TakeOf(const SessionStatus& session, FreeNames& names) {
  OfSession taken;
  for (const ProcessStatus& process : session.processes) {
    const std::string image = fs::path(process.program.name).filename().string();
    Expected<std::string> bytes = TakeText(session.name, process);
    if (bytes) {
      const std::string name = names.Take(fmt::format("{}-{}.snapshot", image, process.pid));
      taken.contents.push_back({name, name, *std::move(bytes)});
      continue;
    }
    const std::string why = process.problem.empty() ? bytes.error().message : process.problem;
    PrintMessage(fmt::format("no snapshot of PID {}: {}", process.pid, why));
    taken.missed.push_back({{"pid", process.pid}, {"name", process.program.name}, {"why", why}});
  }
  return taken;
}

// Reads a snapshot as a whole, so that none that is damaged gets into a bundle.
Expected<std::unique_ptr<SnapshotView>> ViewOf(const Content& content,
                                               const StackReading& reading) {
  LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, SymbolizerOf(reading));
  auto view = std::make_unique<SnapshotView>(SnapshotQuery{}, std::move(symbolizer));
  const auto source = [&content](const SnapshotVisitor& visitor) {
    std::istringstream in(content.bytes);
    return ReadSnapshot(in, content.origin, visitor);
  };
  LEAKGATE_TRY(view->Read(source, content.origin));
  return view;
}

Json EntryOf(const std::string& name, SnapshotView& view) {
  Json entry = SnapshotFactsJson(view);
  entry["file"] = name;
  return entry;
}

// Adds a snapshot; returns what the manifest tells of it.
Expected<Json> Add(Content content, const SnapshotBundleCommand& command, BundleWriter& bundle) {
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SnapshotView> view, ViewOf(content, command.reading));
  if (command.symbols == BundledSymbols::kIncluded) {
    LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, SymbolizerOf(command.reading));
    LEAKGATE_TRY_ASSIGN(
        std::string bytes,
        WithSymbols(content.bytes, content.origin, LookUpSymbols((view)->contents(), symbolizer)));
    content.bytes = std::move(bytes);
  }
  LEAKGATE_TRY(bundle.Add(content.name, content.bytes, BundleWriter::Packing::kAsItIs));
  return EntryOf(content.name, *view);
}

Expected<void> WriteBundle(const SnapshotBundleCommand& command, std::size_t& count) {
  LEAKGATE_TRY_ASSIGN(const std::vector<fs::path> files, FilesOf(command.files));
  LEAKGATE_TRY_ASSIGN(BundleWriter bundle, BundleWriter::Create());
  Json snapshots = Json::array();
  FreeNames names;
  const auto add = [&](Content content) -> Expected<void> {
    LEAKGATE_TRY_ASSIGN(Json entry, Add(std::move(content), command, bundle));
    snapshots.push_back(std::move(entry));
    return {};
  };
  for (const fs::path& file : files) {
    LEAKGATE_TRY_ASSIGN(Content content, ReadContent(file, names));
    if (const Expected<void> added = add(std::move(content)); !added) return added;
  }
  Json session = nullptr;
  if (!command.session.empty()) {
    LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.session));
    OfSession taken = TakeOf(status, names);
    for (Content& content : taken.contents) {
      if (const Expected<void> added = add(std::move(content)); !added) return added;
    }
    session = Json::parse(SessionJson(status));
    session["text"] = SessionText(status, Colour::kOff);
    session["missed"] = std::move(taken.missed);
  }
  if (snapshots.empty()) {
    return UsageError("there is no snapshot to bundle: no process of the session has one");
  }
  count = snapshots.size();
  const Json manifest = {{"schema", "leakgate-bundle-1"},
                         {"symbols", command.symbols == BundledSymbols::kIncluded},
                         {"snapshots", std::move(snapshots)},
                         {"session", std::move(session)}};
  const std::string text = IndentedJson(manifest) + '\n';
  const Expected<void> added = bundle.Add(kManifestName, text, BundleWriter::Packing::kPacked);
  if (!added) return added;
  return bundle.Finish(command.output);
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
                                  command.output.string()));
  }
  LEAKGATE_TRY(AtomicFile::CheckPlace(command.output));
  const WithDebugServers servers;
  std::size_t count = 0;
  LEAKGATE_TRY(WriteBundle(command, count));
  Print(stderr, fmt::format("leakgate: {0}: {1}\n  look at it:  leakgate snapshot show {0}\n",
                            Printable(command.output.string()),
                            FormatCount(static_cast<std::int64_t>(count), "snapshot")));
  return kExitPass;
}

namespace {

// Each snapshot by its own facts: what the manifest says of it is not looked at.
Expected<Json> ListOf(const fs::path& bundle, std::string& text) {
  LEAKGATE_TRY_ASSIGN(const std::vector<std::string> names, SnapshotsIn(bundle));
  Json list = Json::array();
  text = fmt::format("bundle of {}; to see one: leakgate snapshot show {}\n",
                     FormatCount(static_cast<std::int64_t>(names.size()), "snapshot"),
                     Printable((bundle / "NAME").string()));
  for (const std::string& name : names) {
    SnapshotContents contents;
    const auto source = [&](const SnapshotVisitor& visitor) {
      return ReadSnapshot(PathInBundle(bundle, name), visitor);
    };
    LEAKGATE_TRY(ReadContents(source, name, contents, {}));
    const SnapshotFacts& facts = contents.facts;
    const Amount live = AmountOf(contents.closing.bytes, contents.closing.blocks);
    text += fmt::format("  {}\n    {}, PID {}, {} live\n", Printable(name),
                        Printable(facts.name.empty() ? "an unknown program" : facts.name),
                        facts.pid, FormatAmount(live));
    for (const FactLine& line : LinesOf(facts)) {
      const bool is_short = line.key == "taken" && !line.text.empty();
      if (is_short) text += fmt::format("    taken {}\n", Printable(line.text));
    }
    for (const std::string& line : MissingFrom(contents)) {
      text += fmt::format("    MISSING {}\n", Printable(line));
    }
    list.push_back({{"file", name},
                    {"path", PathInBundle(bundle, name).string()},
                    {"name", facts.name},
                    {"pid", facts.pid},
                    {"generation", facts.generation},
                    {"occasion", facts.occasion},
                    {"taken_unix_ns", facts.taken_unix_ns},
                    {"live", {{"bytes", live.bytes}, {"blocks", live.blocks}}},
                    {"has_symbols", !contents.symbols.empty()},
                    {"missing", MissingFrom(contents)}});
  }
  return list;
}

std::string LinesWithout(const std::string& text, std::size_t indent) {
  std::string lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines += std::string(indent, ' ') + Printable(line) + "\n";
  }
  return lines;
}

// What the session knew. The manifest is not trusted: what does not fit is left out.
std::string SessionPart(const Json& session) {
  if (!session.is_object()) return "";
  std::string text;
  const auto told = session.find("text");
  if (told != session.end() && told->is_string()) {
    text += "\n" + LinesWithout(told->get<std::string>(), 0);
  }
  const auto missed = session.find("missed");
  if (missed == session.end() || !missed->is_array()) return text;
  for (const Json& it : *missed) {
    if (!it.is_object() || !it.contains("pid") || !it["pid"].is_number_integer()) continue;
    const std::string why =
        it.contains("why") && it["why"].is_string() ? it["why"].get<std::string>() : "";
    text +=
        fmt::format("  no snapshot of PID {}: {}\n", it["pid"].get<std::int64_t>(), Printable(why));
  }
  return text;
}

}  // namespace

Expected<int> ShowBundle(const fs::path& bundle, OutputForm form) {
  std::string text;
  LEAKGATE_TRY_ASSIGN(Json list, ListOf(bundle, text));
  LEAKGATE_TRY_ASSIGN(const std::string manifest_text, ManifestOf(bundle));
  const Json manifest = Json::parse(manifest_text, nullptr, false);
  const bool has_session = manifest.is_object() && manifest.contains("session");
  const Json session = has_session ? manifest["session"] : Json(nullptr);
  if (form == OutputForm::kJson) {
    PrintJson(
        {{"schema", "leakgate-bundle-1"}, {"snapshots", std::move(list)}, {"session", session}});
  } else {
    Print(stdout, text + SessionPart(session));
  }
  return kExitPass;
}

}  // namespace leakgate
