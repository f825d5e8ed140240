#include "runner/heap_tracing/nt/locked_journal.h"

#include <fmt/format.h>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/heap_tracing/nt/registry_flags.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

constexpr wchar_t kJournal[] = L"traced-images.json";
constexpr wchar_t kNewJournal[] = L"traced-images.new";
constexpr wchar_t kLock[] = L"traced-images.lock";
constexpr std::uint64_t kMostJournalBytes = std::uint64_t{1} << 20;
constexpr int kMostWaits = 500;
constexpr DWORD kWaitMs = 20;

Unexpected CannotUse(const fs::path& path, const std::string& cause) {
  return InconclusiveError(fmt::format(
      "{}: {}; without a journal leakgate does not change the registry", PathText(path), cause));
}

// Follows no link: the caller may have more rights than whoever has made one there.
UniqueFd OpenShared(const fs::path& path, DWORD rights, DWORD disposition) {
  return OwnHandle(CreateFileW(path.c_str(), rights,
                               FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                               disposition, FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
}

Expected<UniqueFd> TakeLock(const fs::path& path) {
  UniqueFd file = OpenShared(path, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS);
  if (!file) return CannotUse(path, WindowsErrorText());
  for (int wait = 0; wait < kMostWaits; ++wait) {
    OVERLAPPED begin{};
    if (LockFileEx(HandleOf(file), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                   &begin)) {
      return file;
    }
    Sleep(kWaitMs);
  }
  return InconclusiveError(
      "another leakgate has been changing the registry for ten seconds; try again when it is done");
}

Expected<FlagJournal> ReadJournal(const fs::path& path) {
  const auto text = ReadRegularFile(path, kMostJournalBytes);
  if (!text && text.error() == std::errc::no_such_file_or_directory) return FlagJournal();
  if (!text) return CannotUse(path, text.error().message());
  Expected<FlagJournal> journal = ReadFlagJournal(*text);
  if (!journal) return CannotUse(path, journal.error().message);
  return journal;
}

bool WriteToDisk(const fs::path& path, const std::string& text) {
  DeleteFileW(path.c_str());  // of a killed command
  const UniqueFd file = OpenShared(path, GENERIC_WRITE, CREATE_NEW);
  DWORD written = 0;
  return file &&
         WriteFile(HandleOf(file), text.data(), static_cast<DWORD>(text.size()), &written,
                   nullptr) &&
         written == text.size() && FlushFileBuffers(HandleOf(file));
}

// Returns why the value stays as it is; empty if it has been put back.
std::string PutBackOne(const JournalEntry& entry, LockedJournal::Foreign foreign) {
  const Expected<RegistryFlag> now = ReadFlag(entry.image);
  if (!now) return now.error().message;
  if (entry.former && now->value == entry.former) return "";
  const bool is_ours = now->value == entry.ours || now->value == entry.former;
  if (!is_ours && foreign == LockedJournal::Foreign::kKept) {
    const std::string session = entry.holders.empty() ? "NAME" : entry.holders.front().session;
    return fmt::format(
        "--image {}: somebody has changed TracingFlags to {} meanwhile, from {}, where there was "
        "{}; they stay so. To have what was there before: leakgate session stop {} --force",
        TextOf(entry.image), TextOf(now->value), TextOf(entry.ours), TextOf(entry.former), session);
  }
  const Expected<void> restored = RestoreFlag(entry.image, entry.former, entry.new_keys);
  return restored ? "" : restored.error().message;
}

}  // namespace

Expected<LockedJournal> LockedJournal::Open() {
  const fs::path local = EnvironmentVariable(L"LOCALAPPDATA");
  if (local.is_absolute()) return OpenIn(local / L"leakgate");
  return InconclusiveError(
      "there is no place for a journal: LOCALAPPDATA is not set; set it to a folder of yours");
}

Expected<LockedJournal> LockedJournal::OpenIn(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return CannotUse(folder, error.message());
  if ((GetFileAttributesW(folder.c_str()) & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return CannotUse(folder, "it is a link");
  }
  LEAKGATE_TRY_ASSIGN(UniqueFd lock, TakeLock(folder / kLock));
  LockedJournal journal(folder, std::move(lock));
  LEAKGATE_TRY_ASSIGN(journal.entries, ReadJournal(folder / kJournal));
  LEAKGATE_TRY(journal.PutBack(Foreign::kKept));
  return journal;
}

Expected<void> LockedJournal::Write() const {
  const fs::path place = folder_ / kJournal;
  if (entries.empty()) {
    if (DeleteFileW(place.c_str()) || GetLastError() == ERROR_FILE_NOT_FOUND) return {};
    return CannotUse(place, WindowsErrorText());
  }
  const fs::path written = folder_ / kNewJournal;
  if (!WriteToDisk(written, FlagJournalText(entries)) ||
      !MoveFileExW(written.c_str(), place.c_str(),
                   MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
    return CannotUse(place, WindowsErrorText());
  }
  return {};
}

Expected<void> LockedJournal::PutBack(Foreign foreign) {
  const std::size_t before = entries.size();
  problems_.clear();
  std::erase_if(entries, [&](const JournalEntry& entry) {
    if (!entry.is_changing) return false;
    std::string problem = PutBackOne(entry, foreign);
    const bool is_back = problem.empty();
    if (!is_back) problems_.push_back(std::move(problem));
    return is_back;
  });
  return entries.size() == before ? Expected<void>{} : Write();
}

}  // namespace leakgate
