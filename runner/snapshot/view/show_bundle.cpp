#include "runner/snapshot/view/show_bundle.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/region/amount.h"
#include "runner/report/style.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/file/read_snapshot.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Each snapshot by its own facts: what the manifest says of it is not looked at.
Expected<Json> ListSnapshots(const fs::path& bundle, std::string& text) {
  LEAKGATE_TRY_ASSIGN(const std::vector<std::string> names, SnapshotsIn(bundle));
  Json list = Json::array();
  text = fmt::format("bundle of {}; to see one: leakgate snapshot show {}\n",
                     FormatCount(static_cast<std::int64_t>(names.size()), "snapshot"),
                     Printable(PathText(bundle / "NAME")));
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
                    {"path", PathText(PathInBundle(bundle, name))},
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

std::string PrintableLinesOf(const std::string& text) {
  std::string lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines += Printable(line) + "\n";
  }
  return lines;
}

// What the session knew. The manifest is not trusted: what does not fit is left out.
std::string SessionPart(const Json& session) {
  if (!session.is_object()) return "";
  std::string text;
  const auto told = session.find("text");
  if (told != session.end() && told->is_string()) {
    text += "\n" + PrintableLinesOf(told->get<std::string>());
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

Expected<void> ListBundle(const fs::path& bundle, std::string& text, Json& json) {
  LEAKGATE_TRY_ASSIGN(Json list, ListSnapshots(bundle, text));
  LEAKGATE_TRY_ASSIGN(const std::string manifest_text, ManifestOf(bundle));
  const Json manifest = Json::parse(manifest_text, nullptr, false);
  const bool has_session = manifest.is_object() && manifest.contains("session");
  const Json session = has_session ? manifest["session"] : Json(nullptr);
  text += SessionPart(session);
  json = {{"schema", "leakgate-bundle-1"}, {"snapshots", std::move(list)}, {"session", session}};
  return {};
}

}  // namespace leakgate
