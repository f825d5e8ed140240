#include "runner/snapshot/view/snapshot_ages.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string AgeText(std::uint64_t now_ns, std::uint64_t then_ns) {
  return FormatDuration(std::chrono::nanoseconds(now_ns > then_ns ? now_ns - then_ns : 0));
}

}  // namespace

SnapshotAges::SnapshotAges(const SnapshotFacts& shown)
    : shown_(shown), nodes_(kStackRootCount), stacks_(nodes_), shown_stacks_(stacks_) {}

Expected<std::unique_ptr<SnapshotAges>> SnapshotAges::Open(const std::vector<fs::path>& since,
                                                           const SnapshotFacts& shown) {
  std::unique_ptr<SnapshotAges> ages(new SnapshotAges(shown));
  for (const fs::path& path : since) {
    std::error_code unknown;
    LEAKGATE_TRY(fs::is_directory(path, unknown) ? ages->AddDirectory(path) : ages->AddFile(path));
  }
  LEAKGATE_TRY(ages->Begin());
  return ages;
}

Expected<SnapshotAges::Earlier> SnapshotAges::Look(const fs::path& file) {
  LEAKGATE_TRY_ASSIGN(OpenedSnapshot opened, OpenSnapshot(file));
  return Earlier{PathText(file), std::move(opened.facts), nullptr};
}

Expected<void> SnapshotAges::AddFile(const fs::path& file) {
  LEAKGATE_TRY_ASSIGN(Earlier found, Look(file));
  if (!IsSameProcess(found.facts, shown_)) {
    return UsageError(
        fmt::format("--since {}: it is of another process than the snapshot to show; name earlier "
                    "ones of the same",
                    found.file));
  }
  if (!IsEarlier(found)) {
    return UsageError(
        fmt::format("--since {}: it is not earlier than the snapshot to show", found.file));
  }
  earlier_.push_back(std::move(found));
  return {};
}

Expected<void> SnapshotAges::AddDirectory(const fs::path& directory) {
  const std::size_t before = earlier_.size();
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".snapshot") continue;
    LEAKGATE_TRY_ASSIGN(Earlier found, Look(entry->path()));
    const bool is_meant = IsSameProcess(found.facts, shown_) && IsEarlier(found);
    if (is_meant) earlier_.push_back(std::move(found));
  }
  if (error) {
    return UsageError(fmt::format("--since {}: cannot read the directory: {}", PathText(directory),
                                  error.message()));
  }
  if (earlier_.size() != before) return {};
  return UsageError(fmt::format(
      "--since {}: there is no earlier snapshot of the same process in it", PathText(directory)));
}

// Readers are opened here, since a directory of thousands cannot be opened at once.
Expected<void> SnapshotAges::Begin() {
  std::sort(earlier_.begin(), earlier_.end(), [](const Earlier& a, const Earlier& b) {
    return std::tie(a.facts.taken_ns, a.file) < std::tie(b.facts.taken_ns, b.file);
  });
  const std::size_t count = earlier_.size();
  if (count > kMostFiles) {
    std::vector<Earlier> some;
    for (std::size_t i = 0; i < kMostFiles; ++i) {
      some.push_back(std::move(earlier_[i * (count - 1) / (kMostFiles - 1)]));
    }
    earlier_ = std::move(some);
  }
  for (Earlier& it : earlier_) {
    LEAKGATE_TRY_ASSIGN(OpenedSnapshot opened, OpenSnapshot(it.file));
    it.blocks = std::make_unique<BlockStream>(std::move(opened.reader), stacks_, nullptr);
  }
  amounts_.resize(earlier_.size() + 1);
  return {};
}

Expected<void> SnapshotAges::Add(LiveBlock block, Counting counting) {
  block.stack = shown_stacks_.Of(block.stack);
  std::size_t first = earlier_.size();
  bool is_in_all_since = true;
  for (std::size_t i = earlier_.size(); i-- > 0;) {
    BlockStream& blocks = *earlier_[i].blocks;
    const LiveBlock* it = nullptr;
    for (;; blocks.Skip()) {
      if (Expected<void> filled = blocks.Fill(); !filled) return filled;
      it = blocks.Get();
      if (it == nullptr || it->address >= block.address) break;
    }
    is_in_all_since = is_in_all_since && it != nullptr && AreOneBlock(*it, block);
    if (is_in_all_since) first = i;
  }
  if (counting == Counting::kYes) {
    amounts_[first] += Amount{static_cast<std::int64_t>(block.size_bytes), 1};
  }
  return {};
}

// The files are read to their ends, for their closings, and to detect one that is cut off.
Expected<void> SnapshotAges::Finish() {
  for (const Earlier& it : earlier_) {
    do {
      if (Expected<void> filled = it.blocks->Fill(); !filled) return filled;
      if (it.blocks->Get() == nullptr) break;
      it.blocks->Skip();
    } while (true);
  }
  return {};
}

// A process may allocate while it is copied. So a block in a snapshot is older than the end of the
// copying, and a block that is not in the snapshot is younger than its begin.
std::string SnapshotAges::NameOf(std::size_t first) const {
  const std::uint64_t now = shown_.taken_ns;
  const auto least = [&] { return AgeText(now, earlier_[first].blocks->closing().finished_ns); };
  const auto most = [&] { return AgeText(now, earlier_[first - 1].facts.taken_ns); };
  if (first == 0) return "at least " + least();
  if (first == earlier_.size()) return "at most " + most();
  return fmt::format("{} to {}", least(), most());
}

std::vector<SnapshotAges::Age> SnapshotAges::Ages() const {
  const auto name = [&](std::size_t i) { return FileNameIn(earlier_[i].file); };
  std::vector<Age> ages;
  for (std::size_t i = 0; i <= earlier_.size(); ++i) {
    if (amounts_[i].blocks == 0) continue;
    const std::string place = i == earlier_.size() ? "not in " + name(i - 1)
                              : i == 0             ? "in " + name(i) + " already"
                                                   : "first in " + name(i);
    ages.push_back({NameOf(i), place, amounts_[i]});
  }
  return ages;
}

}  // namespace leakgate
