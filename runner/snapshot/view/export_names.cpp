#include "runner/snapshot/view/export_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "runner/base/path_text.h"

namespace leakgate {
namespace {

constexpr std::array<std::string_view, 2> kCompressed = {".gz", ".zst"};

// speedscope checks for these endings first, and only then for the content of the file.
constexpr std::array<std::string_view, 10> kOtherProfiles = {
    ".speedscope.json", ".cpuprofile",      ".chrome.json",    ".stackprof.json",
    ".v8log.json",      ".instruments.txt", ".linux-perf.txt", ".collapsedstack.txt",
    ".heapprofile",     ".pmcstat.graph"};

// The first one is the ending by which readers of the format recognise it.
std::string_view EndingOf(SnapshotFormat format) {
  switch (format) {
    case SnapshotFormat::kFolded:
      return ".collapsedstack.txt";
    case SnapshotFormat::kPprof:
      return ".pb.gz";
    case SnapshotFormat::kSpeedscope:
      return ".speedscope.json";
    case SnapshotFormat::kHeaptrack:
      return ".heaptrack";
    case SnapshotFormat::kHtml:
      return ".html";
    case SnapshotFormat::kJson:
      break;
  }
  return ".json";
}

std::string_view WordOf(SnapshotFormat format) {
  for (const auto& [word, known] : SnapshotFormats()) {
    if (known == format) return word;
  }
  return "";
}

// Returns the ending of `name` that is among `endings`, or an empty text.
std::string_view EndingAmong(const auto& endings, std::string_view name) {
  const auto found = std::find_if(endings.begin(), endings.end(),
                                  [&](std::string_view ending) { return name.ends_with(ending); });
  return found == endings.end() ? "" : *found;
}

bool GoesBySpeedscopesNames(SnapshotFormat format) {
  return format == SnapshotFormat::kFolded || format == SnapshotFormat::kSpeedscope;
}

// Returns why a file of this format must not have `ending`.
std::string ReasonAgainst(SnapshotFormat format, std::string_view ending) {
  if (format == SnapshotFormat::kHeaptrack) {
    return fmt::format("heaptrack decompresses what ends in {}, and this file is not compressed",
                       ending);
  }
  return fmt::format("it promises a file compressed by {}, which {} is not",
                     ending == ".gz" ? "gzip" : "zstd", WordOf(format));
}

// Returns `base` with `ending`, whose beginning it may already have: "now.pb" becomes "now.pb.gz".
std::string WithEnding(std::string base, std::string_view ending) {
  std::size_t has = ending.size();
  while (!base.ends_with(ending.substr(0, has))) --has;
  return base.append(ending.substr(has));
}

Unexpected WrongName(const std::filesystem::path& path, const std::string& why,
                     std::string_view ending, SnapshotFormat format) {
  const std::string text = PathText(path);
  const std::string base = text.substr(0, text.size() - ending.size());
  return UsageError(fmt::format("-o {}: a name that its reader cannot use: {}; write -o {}", text,
                                why, WithEnding(base, EndingOf(format))));
}

}  // namespace

Expected<void> CheckExportName(SnapshotFormat format, const std::filesystem::path& path) {
  const std::string name = PathText(path.filename());
  std::string_view ending = EndingAmong(kCompressed, name);
  // A profile of pprof is compressed by gzip, and its reader checks only the bytes.
  if (format == SnapshotFormat::kPprof && ending == ".gz") ending = "";
  if (!ending.empty()) return WrongName(path, ReasonAgainst(format, ending), ending, format);
  if (!GoesBySpeedscopesNames(format)) return {};
  ending = EndingAmong(kOtherProfiles, name);
  if (ending.empty() || ending == EndingOf(format)) return {};
  return WrongName(path,
                   fmt::format("speedscope takes what ends in {} for another format than {}",
                               ending, WordOf(format)),
                   ending, format);
}

std::filesystem::path ExportNameFor(SnapshotFormat format, const std::filesystem::path& snapshot) {
  const bool is_snapshot = snapshot.extension() == ".snapshot";
  std::filesystem::path name = is_snapshot ? snapshot.stem() : snapshot.filename();
  return name += EndingOf(format);
}

}  // namespace leakgate
