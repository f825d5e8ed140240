#include "runner/results/read_baseline.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runner/attribution/leak_identity.h"
#include "runner/base/path_text.h"
#include "runner/report/json/json_report.h"
#include "runner/results/baseline_index.h"
#include "runner/results/index_files.h"
#include "runner/results/result_file.h"
#include "runner/results/result_text.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// A smaller report is read in a few milliseconds.
constexpr std::uint64_t kFewestIndexedBytes = 1 << 16;

// Returns true if the finding can have made its window fail or be unconfirmed.
bool CanBeReason(const Finding& finding) {
  return CountsLiterally(finding) || finding.disposition == Disposition::kKnown;
}

bool WasKnown(const Finding& finding) { return finding.disposition == Disposition::kKnown; }

// The blocks, or mappings, of all findings that share a path.
struct PathCount {
  std::int64_t blocks = 0;
  bool counts = false;
};

void AddFindings(const WindowResult& window, BaselineWindow& known) {
  const bool is_bad =
      window.verdict == Verdict::kOverBudget || window.verdict == Verdict::kUnconfirmed;
  std::map<std::string, PathCount> counts;
  const auto add = [&](const Finding& finding) {
    const bool can_be_reason = CanBeReason(finding);
    if (!can_be_reason && finding.disposition != Disposition::kReleasedLater) return;
    PathCount& count = counts[PathInBaseline(finding.kind, finding.stack)];
    count.blocks =
        AddSaturating(count.blocks, std::max<std::int64_t>(OwnAmount(finding).blocks, 0));
    count.counts = count.counts || WasKnown(finding) || (is_bad && can_be_reason);
  };
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    if (is_bad || std::any_of(findings->begin(), findings->end(), WasKnown)) {
      ForEachWithLedTo(*findings, add);
    }
  }
  for (const auto& [path, count] : counts) {
    if (!count.counts) continue;
    std::int64_t& most = known.blocks[path];
    most = std::max(most, count.blocks);
  }
}

void AddWindow(const WindowResult& window, BaselineWindow& known) {
  AddFindings(window, known);
  for (const std::vector<Violation>* const violations :
       {&window.violations, &window.known_violations}) {
    for (const Violation& violation : *violations) {
      const auto [most, is_new] = known.excess.try_emplace(violation.metric, violation.actual);
      most->second = std::max(most->second, violation.actual);
    }
  }
  for (const FreeErrorResult& error : window.free_errors) {
    known.free_errors.insert(FreeErrorIdentity(error.text, error.freed_at.stack));
  }
}

struct FreeHashState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

// Hashes the bytes that pass by.
class HashedBytes {
 public:
  HashedBytes() { XXH3_128bits_reset(state_.get()); }

  void Add(const char* bytes, std::size_t size) { XXH3_128bits_update(state_.get(), bytes, size); }
  [[nodiscard]] std::array<std::uint64_t, 2> hash() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return {hash.low64, hash.high64};
  }

 private:
  std::unique_ptr<XXH3_state_t, FreeHashState> state_{XXH3_createState()};
};

struct WholeReport {
  BaselineWindows windows;
  std::array<std::uint64_t, 2> hash = {};  // of all its bytes
};

Expected<WholeReport> ReadWhole(const fs::path& report,
                                const std::function<void(RunResult&&)>& on_run) {
  LEAKGATE_TRY_ASSIGN(ResultText text, ResultText::Open(report));
  HashedBytes bytes;
  WholeReport whole;
  LEAKGATE_TRY(ReadAllRuns(
      report,
      [&](char* to, std::size_t size) {
        const std::size_t count = text.Read(to, size);
        bytes.Add(to, count);
        return count;
      },
      [&](RunResult&& run, const JsonSpan&) {
        for (const WindowResult& window : run.windows) {
          AddWindow(window, whole.windows[WindowIdentity(window.kind, window.name)]);
        }
        if (on_run) on_run(std::move(run));
      }));
  whole.hash = bytes.hash();
  return whole;
}

// Reads windows from an index when they are asked for, and keeps them. If the index turns out to be
// damaged, the whole report is read after all; if that has gone by now, nothing is known, so that
// nothing passes by it.
class IndexedWindows {
 public:
  IndexedWindows(fs::path report, BaselineIndex index)
      : report_(std::move(report)), index_(std::move(index)) {}

  const BaselineWindow* Find(const std::string& identity) {
    const std::lock_guard lock(mutex_);
    if (!is_whole_ && !windows_.contains(identity)) ReadWindow(identity);
    const auto known = windows_.find(identity);
    const bool has_any = known != windows_.end() && !known->second.empty();
    return has_any ? &known->second : nullptr;
  }

 private:
  // What was found before stays where it is, since others point to it.
  void ReadWindow(const std::string& identity) {
    if (std::optional<BaselineWindow> window = index_.Read(identity)) {
      windows_.emplace(identity, *std::move(window));
      return;
    }
    is_whole_ = true;
    if (Expected<WholeReport> whole = ReadWhole(report_, {})) windows_.merge(whole->windows);
  }

  const fs::path report_;
  const BaselineIndex index_;
  std::mutex mutex_;
  BaselineWindows windows_;
  bool is_whole_ = false;
};

// Returns an empty hash if the report cannot be read.
std::array<std::uint64_t, 2> HashOfFile(const fs::path& report) {
  Expected<ResultText> text = ResultText::Open(report);
  if (!text) return {};
  HashedBytes bytes;
  std::vector<char> buffer(1 << 18);
  while (const std::size_t count = text->Read(buffer.data(), buffer.size())) {
    bytes.Add(buffer.data(), count);
  }
  return bytes.hash();
}

// Returns the index at `path` if it is one of the report as it is now. Only the report's bytes tell
// that where its version differs, as of a new working copy, or where it had just been changed.
std::optional<BaselineIndex> IndexOf(const fs::path& report, const FileVersion& version,
                                     const fs::path& path) {
  std::optional<BaselineIndex> index = OpenIndex(path);
  if (!index) return std::nullopt;
  IndexedReport indexed = index->report();
  if (indexed.is_settled && indexed.version == version) return index;
  const bool is_settled = IsSettled(version);  // before it is read
  if (indexed.version.size != version.size || HashOfFile(report) != indexed.hash)
    return std::nullopt;
  if (is_settled && VersionOf(report) == version) {
    indexed.version = version;
    indexed.is_settled = true;
    RenewIndex(path, indexed);
  }
  return index;
}

}  // namespace

Expected<Baseline> ReadBaseline(const fs::path& report,
                                const std::function<void(RunResult&&)>& on_run) {
  const std::optional<FileVersion> version = VersionOf(report);
  const bool is_indexed = !on_run && version && version->size >= kFewestIndexedBytes;
  const fs::path path = is_indexed ? IndexPathOf(report) : fs::path();
  const bool is_settled = version && IsSettled(*version);  // before it is read
  if (!path.empty()) {
    if (std::optional<BaselineIndex> index = IndexOf(report, *version, path)) {
      const auto windows = std::make_shared<IndexedWindows>(report, *std::move(index));
      return Baseline{PathText(report),
                      [windows](const std::string& identity) { return windows->Find(identity); }};
    }
  }
  LEAKGATE_TRY_ASSIGN(WholeReport whole, ReadWhole(report, on_run));
  if (!path.empty() && VersionOf(report) == version) {
    KeepIndex(path, IndexText({*version, is_settled, whole.hash}, whole.windows));
  }
  return MakeBaseline(PathText(report), std::move(whole.windows));
}

}  // namespace leakgate
