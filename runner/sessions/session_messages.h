// What a session is to trace and what its owner reports, as values and as JSON. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/stack_event.h"
#include "runner/base/expected.h"
#include "runner/base/word_table.h"
#include "runner/host/process_status.h"
#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// Which programs a session traces by name: `--image NAME[:SELECTOR]`. Both parts are globs of '*'
// and '?'.
//
//   redis-server          every process with that image
//   python3:server.py     processes with an argument that is server.py, or ends in /server.py
//   /opt/app/bin/*        compared with the whole path, because there is a slash
//   *                     every program
//
// SELECTOR distinguishes the programs that one host program runs: an interpreter, an emulator.
struct ImageSelector {
  std::string image;
  std::string argument;  // if empty, any arguments match

  bool operator==(const ImageSelector&) const = default;
};

// Returns a usage error that says what is wrong with `text`, if anything is.
[[nodiscard]] Expected<ImageSelector> ParseImageSelector(std::string_view text);

// Returns the selector as it was written.
[[nodiscard]] std::string TextOf(const ImageSelector& selector);

// Returns whether `program` matches. The image's name is either the name of its file or the name by
// which it was executed, because python3, for example, is a link.
[[nodiscard]] bool Selects(const ImageSelector& selector, const ExecutedProgram& program);

// Does the same for the image alone: the file, or the first argument, which may be empty.
[[nodiscard]] bool SelectsImage(const ImageSelector& selector, std::string_view path,
                                std::string_view first_argument);

// Whose processes a session traces by image, in addition to its own user's. Only root's session
// can trace those of other users. A process that is named by its PID may be anybody's.
struct SessionUsers {
  bool are_all = false;
  std::set<unsigned> uids;

  bool Has(unsigned uid) const { return are_all || uids.contains(uid); }
};

// Where processes start that a session traces by image.
enum class SessionReach {
  kBelow,     // below the session: `session start NAME -- COMMAND`, `session exec`
  kThisUser,  // anywhere, if they are of the session's user
  kSystem,    // anywhere, of any user; only root's sessions
};
template <>
struct WordTable<SessionReach> {
  static constexpr std::array kWords = {Named{SessionReach::kBelow, "below"},
                                        Named{SessionReach::kThisUser, "this_user"},
                                        Named{SessionReach::kSystem, "system"}};
};

// The state of a session's watch over programs that start anywhere.
struct WatchStatus {
  SessionReach reach = SessionReach::kBelow;
  bool is_holding = false;     // each program is held when it begins, so none is missed
  std::string why_not_held{};  // if reach is kSystem and programs are not held
  // How many process numbers had ended before they could be read, if programs are not held.
  std::uint64_t unseen = 0;
  // Processes in which such a program already ran when the session began.
  std::vector<int> ran_before{};
  // Users whose programs are not held for a while, because one of them blocked a worker.
  std::vector<unsigned> let_go{};
};

// A session's ring of snapshot files (snapshot_ring.h).
struct RingStatus {
  std::string directory{};  // empty: there is none
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t taken = 0;  // since the session began
  std::string problem{};    // of the last snapshot that failed
  // How many processes ended and were forgotten before their last snapshot could be taken.
  std::uint64_t without_last = 0;
};

// What a session is to trace.
struct SessionScope {
  std::vector<ImageSelector> images;
  std::set<int> pids;
  SessionUsers users{};
};

// How the stacks of each traced process are recorded.
struct StackSettings {
  std::uint32_t depth = kDefaultStackDepth;    // the depth at which stacks are cut
  std::uint32_t events = kDefaultStackEvents;  // which events' stacks are recorded
};

struct SessionStatus {
  std::string name;
  int owner_pid = 0;
  std::int64_t begin_seconds = 0;  // since 1970
  std::string control;             // the name of the control socket, for programs to be started
  std::uint32_t stack_depth = 0;
  std::uint32_t stack_events = kDefaultStackEvents;
  SessionScope scope;
  WatchStatus watch;
  RingStatus ring;
  std::int64_t expires_seconds = 0;  // when it ends by itself, since 1970; 0: never
  std::uint64_t forgotten = 0;       // how many ended processes are no longer kept
  std::uint64_t kept_bytes = 0;      // how much memory the kept ones hold
  std::uint64_t most_kept_bytes = 0;
  std::string failure{};       // why no further process can be traced; empty: they can
  std::uint64_t untraced = 0;  // how many could not be traced; `processes` has the newest
  std::vector<ProcessStatus> processes;
};

[[nodiscard]] nlohmann::json ToJson(const SessionStatus& status);
// A member that is missing in `body`, or is of another type, keeps its default.
[[nodiscard]] SessionStatus StatusFromJson(const nlohmann::json& body);

// Complete recordings: their files, and the facts that are shown when they are complete.
[[nodiscard]] nlohmann::json ToJson(const std::vector<RecordedFile>& files);
[[nodiscard]] std::vector<RecordedFile> RecordedFilesFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const SessionScope& scope);
// Returns an error that names the first image that is not a valid selector.
[[nodiscard]] Expected<SessionScope> ScopeFromJson(const nlohmann::json& body);

}  // namespace leakgate
