// What leakgate has changed in the registry to have Windows trace the heaps of programs by their
// image's name, and what was there before. A file has it before the registry is touched
// (nt/image_sessions.h), so that whatever kills leakgate, the next command puts the registry back.
//
//   session start web --image a.exe   journal: a.exe was 2, becomes 3, is changing   registry: 2
//                                     registry: 3
//                                     journal: a.exe was 2, became 3, held by "web"
//   session stop web                  journal: a.exe is changing;  registry: 2;  journal: empty
//
// Whatever is changing when a command begins was left by a killed one. It is put back.
//
// An elevated command reads a file that the user's other programs can write. So the journal names
// images, never keys: at worst, Windows traces a program's heap.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

// Which programs Windows is to trace: "nginx.exe", or for an application of a package that one
// program hosts, "WWAHost.exe:PACKAGE!APPLICATION", with the package's full name.
struct FlaggedImage {
  std::string image;
  std::string application{};  // empty: any

  bool operator==(const FlaggedImage&) const = default;
};
// Returns a usage error that says what is wrong with `text`, if anything is.
[[nodiscard]] Expected<FlaggedImage> ParseFlaggedImage(const std::string& option,
                                                       const std::string& text);
[[nodiscard]] std::string TextOf(const FlaggedImage& traced);
// Whether both mean the same key: the case of letters does not matter there.
[[nodiscard]] bool AreSame(const FlaggedImage& left, const FlaggedImage& right);

// A value of the registry, as it is there.
struct FlagValue {
  std::uint32_t type = 0;
  std::string bytes;

  bool operator==(const FlagValue&) const = default;
};
inline constexpr std::uint32_t kNumberType = 4;  // REG_DWORD
[[nodiscard]] FlagValue NumberValue(std::uint32_t number);
// Returns the value with the flag by which Windows traces heaps, and all others that it has.
[[nodiscard]] FlagValue WithHeapTracing(const std::optional<FlagValue>& value);
// Returns "0x1", "none", or "2 bytes of type 3".
[[nodiscard]] std::string TextOf(const std::optional<FlagValue>& value);

// Who records what is traced so.
enum class Recorder { kOthers, kWpr };

// A session that needs a flag.
struct FlagHolder {
  std::string session;
  std::string user;
  std::uint32_t pid = 0;                  // of the command that began it
  std::int64_t begin_seconds = 0;         // since 1970
  Recorder recorder = Recorder::kOthers;  // kWpr: the session has begun wpr's recording

  bool operator==(const FlagHolder&) const = default;
};

struct JournalEntry {
  FlaggedImage image;
  std::optional<FlagValue> former;  // if not set, there was no value
  FlagValue ours;
  int new_keys = 0;         // how many keys were made for it: the image's, the application's
  bool is_changing = true;  // the registry may have either value
  std::vector<FlagHolder> holders;

  bool operator==(const JournalEntry&) const = default;
};

using FlagJournal = std::vector<JournalEntry>;

[[nodiscard]] std::string FlagJournalText(const FlagJournal& journal);
// Fails if any of it is not as FlagJournalText writes it.
[[nodiscard]] Expected<FlagJournal> ReadFlagJournal(std::string_view text);

// A flag that a session has set, or that somebody else has.
struct ListedFlag {
  FlaggedImage image;
  std::optional<FlagValue> now{};
  std::optional<JournalEntry> entry{};  // if a session has set it
  std::int64_t change_seconds = 0;      // since 1970: when its key was changed last; 0: no key
};
struct FlagSurvey {
  std::vector<ListedFlag> flags;      // those of sessions first
  std::vector<std::string> problems;  // what a killed command has left, and why it stays
};

}  // namespace leakgate
