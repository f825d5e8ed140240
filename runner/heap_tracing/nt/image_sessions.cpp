#include "runner/heap_tracing/nt/image_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "runner/base/nt/win32.h"

namespace leakgate {
namespace {

bool Holds(const JournalEntry& entry, const std::string& session) {
  return std::ranges::any_of(entry.holders,
                             [&](const FlagHolder& holder) { return holder.session == session; });
}

template <typename Flags>
auto FindImage(Flags& flags, const FlaggedImage& image) {
  return std::ranges::find_if(flags, [&](const auto& it) { return AreSame(it.image, image); });
}

FlagHolder HolderNow(const std::string& session, Recorder recorder) {
  const std::wstring user = TextThat([](wchar_t* to, DWORD units) -> DWORD {
    DWORD length = units;
    return GetUserNameW(to, &length) ? length - 1 : 0;
  });
  return {session, Utf8Of(user), GetCurrentProcessId(), std::time(nullptr), recorder};
}

// Adds the session to those of an image that is traced already.
Expected<void> Join(const JournalEntry& entry) {
  LEAKGATE_TRY_ASSIGN(const RegistryFlag now, ReadFlag(entry.image));
  if (!entry.is_changing && now.value == entry.ours) return {};
  return UsageError(fmt::format(
      "--image {}: the session '{}' has set TracingFlags to {}, and they are {} now; stop it first",
      TextOf(entry.image), entry.holders.empty() ? "?" : entry.holders.front().session,
      TextOf(entry.ours), TextOf(now.value)));
}

Expected<void> WriteAll(const FlagJournal& entries) {
  for (const JournalEntry& entry : entries) {
    if (entry.is_changing && entry.former != entry.ours) {
      LEAKGATE_TRY(WriteFlag(entry.image, entry.ours));
    }
  }
  return {};
}

}  // namespace

Expected<void> StartImageSession(LockedJournal& journal, const std::string& name,
                                 const std::vector<FlaggedImage>& images, Recorder recorder) {
  FlagJournal& entries = journal.entries;
  if (std::ranges::any_of(entries, [&](const auto& entry) { return Holds(entry, name); })) {
    return UsageError(
        fmt::format("there is a session '{}' already; stop it, or choose another name", name));
  }
  const FlagHolder holder = HolderNow(name, recorder);
  FlagJournal joined = entries;
  for (const FlaggedImage& image : images) {
    if (const auto known = FindImage(joined, image); known != joined.end()) {
      if (Holds(*known, name)) continue;  // named twice
      LEAKGATE_TRY(Join(*known));
      known->holders.push_back(holder);
      continue;
    }
    LEAKGATE_TRY_ASSIGN(const RegistryFlag before, ReadFlag(image));
    joined.push_back({.image = image,
                      .former = before.value,
                      .ours = WithHeapTracing(before.value),
                      .new_keys = before.missing_keys,
                      .is_changing = true,
                      .holders = {holder}});
    entries.push_back(joined.back());
  }
  // What a killed command has left, and could not be put back, is still changing: not ours.
  LEAKGATE_TRY(journal.Write());
  FlagJournal ours = entries;
  std::erase_if(ours, [&](const JournalEntry& entry) { return !Holds(entry, name); });
  if (const Expected<void> written = WriteAll(ours); !written) {
    (void)journal.PutBack(LockedJournal::Foreign::kKept);
    return Unexpected(written.error());
  }
  for (JournalEntry& entry : joined) entry.is_changing &= !Holds(entry, name);
  entries = std::move(joined);
  return journal.Write();
}

Expected<FlagHolder> FindImageSession(const LockedJournal& journal, const std::string& name) {
  for (const JournalEntry& entry : journal.entries) {
    for (const FlagHolder& holder : entry.holders) {
      if (holder.session == name) return holder;
    }
  }
  return UsageError(fmt::format(
      "there is no session '{}'; leakgate session list shows those that there are", name));
}

Expected<bool> StopImageSession(LockedJournal& journal, const std::string& name,
                                LockedJournal::Foreign foreign) {
  LEAKGATE_TRY_ASSIGN(const FlagHolder found, FindImageSession(journal, name));
  for (JournalEntry& entry : journal.entries) {
    if (!Holds(entry, found.session)) continue;
    if (entry.holders.size() == 1) {
      entry.is_changing = true;
    } else {
      std::erase_if(entry.holders, [&](const FlagHolder& it) { return it.session == name; });
    }
  }
  LEAKGATE_TRY(journal.Write());
  LEAKGATE_TRY(journal.PutBack(foreign));
  return std::ranges::none_of(journal.entries,
                              [&](const JournalEntry& entry) { return Holds(entry, name); });
}

Expected<FlagSurvey> SurveyFlags(const LockedJournal& journal) {
  LEAKGATE_TRY_ASSIGN(std::vector<FoundFlag> found, FindFlags());
  FlagSurvey survey = {{}, journal.problems()};
  for (const JournalEntry& entry : journal.entries) {
    ListedFlag listed = {.image = entry.image, .entry = entry};
    if (const auto flag = FindImage(found, entry.image); flag != found.end()) {
      listed.now = flag->value;
      listed.change_seconds = flag->change_seconds;
      found.erase(flag);
    }
    survey.flags.push_back(std::move(listed));
  }
  for (FoundFlag& flag : found) {
    survey.flags.push_back({.image = std::move(flag.image),
                            .now = std::move(flag.value),
                            .change_seconds = flag.change_seconds});
  }
  return survey;
}

}  // namespace leakgate
