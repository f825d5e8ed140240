#include "runner/merge/result_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runner/merge/result_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstLook = 4096;  // the schema is at the beginning, as a rule

JsonScanner::Read ReadFrom(ResultText& text) {
  return [&text](char* to, std::size_t size) { return text.Read(to, size); };
}

// "FILE:LINE:COLUMN: ...", as editors count.
Unexpected ErrorAt(const fs::path& path, const JsonScanner::Problem& problem) {
  std::uint64_t line = 1;
  std::uint64_t line_begin = 0;
  if (Expected<ResultText> text = ResultText::Glance(path)) {
    std::vector<char> bytes(1 << 16);
    std::uint64_t at = 0;
    while (at < problem.offset) {
      const std::size_t wanted = std::min<std::uint64_t>(bytes.size(), problem.offset - at);
      const std::size_t count = text->Read(bytes.data(), wanted);
      if (count == 0) break;
      for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != '\n') continue;
        ++line;
        line_begin = at + i + 1;
      }
      at += count;
    }
  }
  return UsageError(fmt::format("{}:{}:{}: {}", path.string(), line,
                                problem.offset - line_begin + 1, problem.text));
}

bool ScanRun(JsonScanner& scanner, const fs::path& file, const OnRun& on_run) {
  RunOutline run;
  RunPlace place{file, scanner.BeginText(), 0, scanner.values(), {}};
  if (!ReadRun(scanner, run)) return false;
  place.size = scanner.offset() - place.offset;
  place.values = scanner.values() - place.values;
  place.text = scanner.EndText();
  on_run(std::move(run), place);
  return true;
}

bool ScanMerged(JsonScanner& scanner, const fs::path& file, const OnRun& on_run) {
  bool has_runs = false;
  const bool read = scanner.Object([&](std::string_view key) {
    if (key != "runs") return scanner.Any();
    if (std::exchange(has_runs, true)) {
      return scanner.Refuse("the key \"runs\" stands twice; merge again");
    }
    return scanner.Array([&] { return ScanRun(scanner, file, on_run); });
  });
  if (!read || has_runs) return read;
  return scanner.Refuse("the merged report that ends here lacks \"runs\"; merge again");
}

Expected<ResultKind> KindOfSchema(const fs::path& file, const std::string& schema,
                                  std::uint64_t offset) {
  if (schema == kRunSchema) return ResultKind::kRun;
  if (schema == kMergedSchema) return ResultKind::kMerged;
  if (!schema.starts_with("leakgate-report-") && !schema.starts_with("leakgate-merged-")) {
    return ResultKind::kOther;
  }
  return ErrorAt(
      file,
      {offset, fmt::format("the schema '{}' is neither {} nor {}; merge it with the leakgate that "
                           "wrote it, or run it again with this one",
                           schema.substr(0, 40), kRunSchema, kMergedSchema)});
}

}  // namespace

Expected<ResultKind> KindOf(const fs::path& path) {
  Expected<ResultText> text = ResultText::Glance(path);
  if (!text) return Unexpected(text.error());
  JsonScanner scanner(ReadFrom(*text), kFirstLook);
  const std::optional<JsonType> type = scanner.Peek();
  if (type && *type != JsonType::kObject) return ResultKind::kOther;
  std::optional<std::string> schema;
  std::uint64_t offset = 0;
  if (type) {
    (void)scanner.Object([&](std::string_view key) {
      if (key != "schema") return scanner.Any();
      scanner.Peek();
      offset = scanner.offset();
      std::string_view word;
      if (scanner.String(word)) schema = word;
      return false;
    });
  }
  if (schema) return KindOfSchema(path, *schema, offset);
  // Of a file that was cut off nobody can tell what it was; it may have been a result.
  if (scanner.problem() && scanner.problem()->is_cut_off) return ErrorAt(path, *scanner.problem());
  return ResultKind::kOther;
}

Expected<void> ScanResults(const fs::path& path, const OnRun& on_run) {
  const Expected<ResultKind> kind = KindOf(path);
  if (!kind) return Unexpected(kind.error());
  Expected<ResultText> text = ResultText::Open(path);
  if (!text) return Unexpected(text.error());
  JsonScanner scanner(ReadFrom(*text));
  // What is no report is read as one, to say where it is not.
  const bool is_merged = *kind == ResultKind::kMerged;
  const bool read = is_merged ? ScanMerged(scanner, path, on_run) : ScanRun(scanner, path, on_run);
  if (read && scanner.AtEnd()) return {};
  if (*kind != ResultKind::kOther) return ErrorAt(path, *scanner.problem());
  JsonScanner::Problem problem = *scanner.problem();
  problem.text = "not a report of leakgate's: " + problem.text;
  return ErrorAt(path, problem);
}

Expected<void> ReadRunText(const RunPlace& place, const OnText& on_text) {
  Expected<ResultText> text = ResultText::Open(place.file, place.offset);
  if (!text) return Unexpected(text.error());
  std::vector<char> bytes(std::min<std::uint64_t>(place.size, 1 << 18));
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash(XXH3_createState(),
                                                                             XXH3_freeState);
  XXH3_128bits_reset(hash.get());
  std::uint64_t left = place.size;
  while (left != 0) {
    const std::size_t wanted = std::min<std::uint64_t>(bytes.size(), left);
    const std::size_t count = text->Read(bytes.data(), wanted);
    if (count == 0) break;
    XXH3_128bits_update(hash.get(), bytes.data(), count);
    on_text(std::string_view(bytes.data(), count));
    left -= count;
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(hash.get());
  if (left == 0 && Digest{digest.low64, digest.high64} == place.text) return {};
  return UsageError(
      fmt::format("{}: changed while it was merged; merge again once all runs have "
                  "ended",
                  place.file.string()));
}

}  // namespace leakgate
