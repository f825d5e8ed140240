#include "runner/profiling/live_watch.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "runner/base/path_text.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using SiteRank = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

SiteRank RankOf(const LiveSite& site, TopOrder order) {
  const Amount& first = order == TopOrder::kGrowth   ? site.grown
                        : order == TopOrder::kRecent ? site.recent
                                                     : site.live;
  return {first.bytes, first.blocks, site.live.bytes};
}

}  // namespace

std::string WatchedProcess::Name() const { return FileNameIn(status().program.name); }

Expected<void> WatchedProcess::Look() {
  has_ended = is_replaced || subject.HasEnded();
  LEAKGATE_TRY_ASSIGN(const std::string text, subject.Text());
  return sites.Look(text);
}

Expected<void> LiveWatch::Look() {
  std::erase_if(processes_, [](const auto& it) { return it.second->has_ended; });
  LEAKGATE_TRY(request_.pid && !has_found_ ? Find() : Update());
  for (const auto& [key, process] : processes_) LEAKGATE_TRY(process->Look());
  return {};
}

bool LiveWatch::HasEnded() const {
  if (!request_.pid) return false;
  if (processes_.empty()) return !UserOfProcess(*request_.pid);
  const WatchedProcess& newest = *processes_.rbegin()->second;
  return newest.has_ended && newest.subject.HasEnded();
}

std::vector<LiveWatch::Row> LiveWatch::Rows(TopOrder order) const {
  std::vector<Row> rows;
  for (const auto& [key, process] : processes_) {
    for (LiveSite& site : process->sites.Sites()) {
      rows.push_back({process.get(), std::move(site)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [order](const Row& a, const Row& b) {
    return RankOf(a.site, order) > RankOf(b.site, order);
  });
  return rows;
}

Expected<void> LiveWatch::Add(FoundProcess found) {
  LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, request_.new_symbolizer());
  const Key key{found.status.pid, found.status.generation};
  LEAKGATE_TRY_ASSIGN(SnapshotSubject subject, SnapshotSubject::Of(std::move(found)));
  processes_.emplace(key,
                     std::make_unique<WatchedProcess>(std::move(subject), std::move(symbolizer)));
  return {};
}

// Learns who traces the process. Later looks ask only there.
Expected<void> LiveWatch::Find() {
  LEAKGATE_TRY_ASSIGN(FoundProcess found, FindProcess(*request_.pid));
  has_found_ = true;
  request_.session = found.session;
  return Add(std::move(found));
}

Expected<void> LiveWatch::Update() {
  if (request_.session.empty()) return UpdateFromRun();
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(request_.session));
  for (const ProcessStatus& process : status.processes) {
    if (request_.pid.value_or(process.pid) == process.pid) TakeUp(process);
  }
  return {};
}

Expected<void> LiveWatch::UpdateFromRun() {
  LEAKGATE_TRY_ASSIGN(std::optional<FoundProcess> found, FindInRuns(*request_.pid));
  if (!found || processes_.contains({*request_.pid, (*found).status.generation})) return {};
  for (const auto& [key, process] : processes_) process->is_replaced = true;
  (void)Add(*std::move(found));
  return {};
}

// What has begun only now is taken up at the next look.
void LiveWatch::TakeUp(const ProcessStatus& process) {
  const auto known = processes_.find({process.pid, process.generation});
  if (known != processes_.end()) {
    known->second->is_replaced = process.state == ProcessState::kEnded;
    return;
  }
  if (process.state != ProcessState::kTracing) return;
  Expected<FoundProcess> found =
      ProcessOfSession(request_.session, process.pid, process.generation);
  if (found) (void)Add(*std::move(found));
}

double SecondsBetween(const LiveLook& from, const LiveLook& to) {
  return to.time_ns > from.time_ns ? static_cast<double>(to.time_ns - from.time_ns) / 1e9 : 0;
}

Amount AmountPerSecond(Amount amount, double seconds) {
  if (seconds <= 0) return {};
  return {static_cast<std::int64_t>(static_cast<double>(amount.bytes) / seconds),
          static_cast<std::int64_t>(static_cast<double>(amount.blocks) / seconds)};
}

}  // namespace leakgate
