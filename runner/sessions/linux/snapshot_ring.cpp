#include "runner/sessions/snapshot_ring.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "runner/base/atomic_file.h"
#include "runner/region/amount.h"
#include "runner/sessions/take_snapshot.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".snapshot";

constexpr std::chrono::milliseconds kLookForEnded(250);

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns the number after `prefix`; 0 unless `name` has the form that Next makes.
std::uint64_t NumberIn(std::string_view name, std::string_view prefix) {
  constexpr std::size_t kFewestDigits = 6;
  if (!name.starts_with(prefix) || !name.ends_with(kEnding)) return 0;
  name.remove_prefix(prefix.size());
  name.remove_suffix(std::min(kEnding.size(), name.size()));
  const std::size_t first = name.find('-');
  const std::size_t last = name.rfind('-');
  if (first == last) return 0;
  const std::string_view digits = name.substr(0, first);
  if (!IsNumber(digits) || digits.size() < kFewestDigits || !IsNumber(name.substr(last + 1))) {
    return 0;
  }
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + first, number);
  return error == std::errc() ? number : 0;
}

// Returns nothing for a link, or anything else that is no regular file.
std::optional<std::uint64_t> BytesOf(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

RingFiles::RingFiles(std::string session, const SnapshotRingSettings& settings)
    : prefix_(std::move(session) + '@'), settings_(settings) {
  if (!settings_.IsAsked()) return;
  FindEarlier();
  KeepBounds(settings_.most_files);
}

void RingFiles::FindEarlier() {
  std::vector<std::pair<std::uint64_t, File>> found;
  std::error_code error;
  for (fs::directory_iterator entry(settings_.directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::uint64_t number = NumberIn(entry->path().filename().string(), prefix_);
    const std::optional<std::uint64_t> bytes = BytesOf(entry->path());
    if (number != 0 && bytes) found.push_back({number, {entry->path(), *bytes}});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [number, file] : found) {
    last_number_ = number;
    bytes_ += file.bytes;
    files_.push_back(std::move(file));
  }
}

fs::path RingFiles::Next(const ProcessStatus& process) {
  KeepBounds(settings_.most_files - 1);
  const std::string image = fs::path(process.program.name).filename().string();
  return settings_.directory /
         fmt::format("{}{:06}-{}-{}{}", prefix_, ++last_number_, image, process.pid, kEnding);
}

Expected<void> RingFiles::Add(const fs::path& path) {
  const std::uint64_t bytes = BytesOf(path).value_or(0);
  files_.push_back({path, bytes});
  bytes_ += bytes;
  KeepBounds(settings_.most_files);
  if (!files_.empty()) return {};
  return InconclusiveError(
      fmt::format("a snapshot takes {}, and all of them may take {}; raise --keep-bytes",
                  FormatBytes(static_cast<std::int64_t>(bytes)),
                  FormatBytes(static_cast<std::int64_t>(settings_.most_bytes.value_or(0)))));
}

void RingFiles::RemoveOldest() {
  RemoveWrittenFile(files_.front().path);
  bytes_ -= files_.front().bytes;
  files_.pop_front();
}

void RingFiles::KeepBounds(std::size_t most_files) {
  while (files_.size() > most_files ||
         (settings_.most_bytes && bytes_ > *settings_.most_bytes && !files_.empty())) {
    RemoveOldest();
  }
}

SnapshotRing::SnapshotRing(std::string session, SnapshotRingSettings settings,
                           SessionProcesses& processes)
    : session_(std::move(session)),
      settings_(std::move(settings)),
      processes_(processes),
      files_(session_, settings_) {
  processes_.KeepForLastSnapshots();
  thread_ = std::thread([this] { Serve(); });
}

SnapshotRing::~SnapshotRing() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ending_.notify_all();
  thread_.join();
  ServeUntil(std::chrono::steady_clock::now());
}

RingStatus SnapshotRing::Status() const {
  const std::uint64_t without_last = processes_.ended().without_last;
  const std::lock_guard lock(mutex_);
  return {
      settings_.directory.string(), files_.count(), files_.bytes(), taken_, problem_, without_last};
}

void SnapshotRing::Serve() {
  auto next = std::chrono::steady_clock::now() + settings_.every;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto soon = std::chrono::steady_clock::now() + kLookForEnded;
      if (ending_.wait_until(lock, std::min(next, soon), [this] { return is_ending_; })) return;
    }
    ServeUntil(next);
    // If taking them takes longer than the interval, the missed snapshots are not taken later.
    const auto now = std::chrono::steady_clock::now();
    if (now >= next) next = std::max(next + settings_.every, now);
  }
}

// A moment without memory does not end the ring.
void SnapshotRing::ServeUntil(std::chrono::steady_clock::time_point next) {
  try {
    if (std::chrono::steady_clock::now() >= next) {
      TakeAll();
    } else {
      TakeEnded();
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
  }
}

void SnapshotRing::TakeAll() {
  for (const ProcessStatus& process : processes_.Query()) {
    if (process.state == ProcessState::kTracing) TakeNoted(process);
  }
  TakeEnded();
}

void SnapshotRing::TakeEnded() {
  for (const ProcessStatus& process : processes_.WithoutLastSnapshot()) {
    TakeNoted(process);
    processes_.NoteLastSnapshot(process);
  }
}

void SnapshotRing::TakeNoted(const ProcessStatus& process) {
  const Expected<void> taken = Take(process);
  const std::lock_guard lock(mutex_);
  taken_ += taken.has_value();
  if (!taken) problem_ = taken.error().message;
}

Expected<void> SnapshotRing::Take(const ProcessStatus& process) {
  std::optional<ProcessRegion> found = processes_.RegionOf(process.pid, process.generation);
  if (!found) return {};  // the session has forgotten the process
  LEAKGATE_TRY_ASSIGN(
      const SnapshotSubject subject,
      SnapshotSubject::Of({session_, 0, std::move(found->status), std::move(found->region)}));
  fs::path path;
  {
    const std::lock_guard lock(mutex_);
    path = files_.Next(process);
  }
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto taken,
                      subject.Take(path, SnapshotCare::kRunning));
  const std::lock_guard lock(mutex_);
  return files_.Add(path);
}

}  // namespace leakgate
