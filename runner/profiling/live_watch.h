// What grows in the processes of a PID or of a session while they run, looked at again and again.
// `leakgate top` shows it.
//
// Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/take_snapshot.h"
#include "runner/snapshot/view/live_sites.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// A process that is looked at.
struct WatchedProcess {
  WatchedProcess(SnapshotSubject process, Symbolizer symbolizer)
      : subject(std::move(process)), sites(std::move(symbolizer)) {}

  [[nodiscard]] const ProcessStatus& status() const { return subject.process().status; }
  // Returns the file name of its program.
  [[nodiscard]] std::string Name() const;
  [[nodiscard]] Expected<void> Look();

  SnapshotSubject subject;
  LiveSites sites;
  bool is_replaced = false;  // the process executes another program by now
  bool has_ended = false;    // as it was looked at last
};

enum class TopOrder { kGrowth, kRecent, kLive };

class LiveWatch {
 public:
  // What to watch: a session, or a process that a session or a run traces.
  struct Request {
    std::string session;                                   // empty: that of the process
    std::optional<int> pid;                                // nullopt: all processes of the session
    std::function<Expected<Symbolizer>()> new_symbolizer;  // called for each process
  };
  using Key = std::pair<int, std::uint32_t>;  // PID and generation
  using Processes = std::map<Key, std::unique_ptr<WatchedProcess>>;
  struct Row {
    const WatchedProcess* process = nullptr;
    LiveSite site;
  };

  explicit LiveWatch(Request request) : request_(std::move(request)) {}

  // Forgets programs that were seen to have ended, takes up those that have come, and looks at all.
  [[nodiscard]] Expected<void> Look();

  // Returns whether the process has ended. A session is never seen to.
  [[nodiscard]] bool HasEnded() const;
  [[nodiscard]] const Processes& processes() const { return processes_; }

  // Returns all call sites, the largest in this order first.
  [[nodiscard]] std::vector<Row> Rows(TopOrder order) const;

 private:
  [[nodiscard]] Expected<void> Add(FoundProcess found);
  [[nodiscard]] Expected<void> Find();
  [[nodiscard]] Expected<void> Update();
  [[nodiscard]] Expected<void> UpdateFromRun();
  void TakeUp(const ProcessStatus& process);

  Request request_;
  bool has_found_ = false;  // of a PID: who traces it
  Processes processes_;
};

// Returns the seconds from one look to a later one; 0 where they are the same.
[[nodiscard]] double SecondsBetween(const LiveLook& from, const LiveLook& to);

// Returns what of an amount falls to one second; none where `seconds` is 0, as at the first look.
[[nodiscard]] Amount AmountPerSecond(Amount amount, double seconds);

}  // namespace leakgate
