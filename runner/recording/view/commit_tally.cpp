#include "runner/recording/view/commit_tally.h"

#include <algorithm>
#include <utility>

namespace leakgate {
namespace {

std::uint64_t EndOf(std::uint64_t address, std::uint64_t bytes) {
  return address + std::min(bytes, ~address);  // a hostile one would wrap around
}

}  // namespace

void CommitTally::Add(const SnapshotMapping& mapping) {
  RecordedEvent event;
  event.kind = RecordedKind::kMap;
  event.address = mapping.address;
  event.size_bytes = mapping.bytes;
  event.allocation_kind = mapping.kind;
  event.stack = mapping.stack;
  event.window = mapping.window;
  event.thread = mapping.thread;
  event.mark = mapping.protection == 0 ? 1 : 0;
  Add(event, Phase::kBefore);
  RaisePeak(0);
}

void CommitTally::BeginInterval(std::uint64_t time_ns) {
  peak_bytes_ = all_.live.bytes;
  peak_ns_ = time_ns;
}

void CommitTally::Add(const RecordedEvent& event, Phase phase) {
  const std::uint64_t begin = event.address;
  const std::uint64_t end = EndOf(begin, event.size_bytes);
  if (begin == 0 || begin >= end) return;
  switch (event.kind) {
    case RecordedKind::kMap: {
      Unmap(begin, end, event.time_ns, phase);
      Piece piece{.end = end,
                  .kind = event.allocation_kind,
                  .stack = event.stack,
                  .window = event.window,
                  .thread = event.thread,
                  .mapped_ns = event.time_ns};
      if (event.mark == 0) piece.commit = Open(event, end - begin, phase);
      pieces_.emplace(begin, piece);
      break;
    }
    case RecordedKind::kUnmap:
      Unmap(begin, end, event.time_ns, phase);
      break;
    case RecordedKind::kCommit:
      CommitRange(begin, end, event, phase);
      break;
    case RecordedKind::kDecommit:
      for (auto at = Cut(begin, end); at != pieces_.end() && at->first < end; ++at) {
        Decommit(std::exchange(at->second.commit, 0), at->second.end - at->first, event.time_ns,
                 phase);
      }
      break;
    default:
      break;
  }
}

CommitTally::Pieces::iterator CommitTally::Cut(std::uint64_t begin, std::uint64_t end) {
  for (const std::uint64_t at : {begin, end}) {
    auto piece = pieces_.lower_bound(at);
    if (piece == pieces_.begin()) continue;
    --piece;
    if (piece->second.end <= at) continue;
    Piece behind = piece->second;
    piece->second.end = at;
    pieces_.emplace(at, behind);
  }
  return pieces_.lower_bound(begin);
}

void CommitTally::Unmap(std::uint64_t begin, std::uint64_t end, std::uint64_t time_ns,
                        Phase phase) {
  for (auto at = Cut(begin, end); at != pieces_.end() && at->first < end;) {
    Decommit(at->second.commit, at->second.end - at->first, time_ns, phase);
    at = pieces_.erase(at);
  }
}

// Memory that is already committed stays charged to the call that committed it. If the mapping of
// the memory is unknown (the program break), the call makes a piece.
void CommitTally::CommitRange(std::uint64_t begin, std::uint64_t end, const RecordedEvent& event,
                              Phase phase) {
  std::vector<std::pair<std::uint64_t, Piece>> unknown;
  std::vector<Piece*> reserved;
  std::uint64_t bytes = 0;
  std::uint64_t known_to = begin;
  const auto add_unknown = [&](std::uint64_t to) {
    if (to <= known_to) return;
    unknown.emplace_back(known_to, Piece{.end = to,
                                         .stack = event.stack,
                                         .window = event.window,
                                         .thread = event.thread,
                                         .mapped_ns = event.time_ns});
    bytes += to - known_to;
  };
  for (auto at = Cut(begin, end); at != pieces_.end() && at->first < end; ++at) {
    add_unknown(at->first);
    known_to = at->second.end;
    if (at->second.commit != 0) continue;
    reserved.push_back(&at->second);
    bytes += at->second.end - at->first;
  }
  add_unknown(end);
  if (bytes == 0) return;
  RecordedEvent call = event;
  call.allocation_kind = reserved.empty() ? AllocationKind::kMapped : reserved.front()->kind;
  const std::uint64_t commit = Open(call, bytes, phase);
  for (Piece* const piece : reserved) piece->commit = commit;
  for (auto& [address, piece] : unknown) {
    piece.commit = commit;
    pieces_.emplace(address, piece);
  }
}

std::uint64_t CommitTally::Open(const RecordedEvent& event, std::uint64_t bytes, Phase phase) {
  const std::uint64_t number = ++last_number_;
  OpenCommit open{.commit = {.number = number,
                             .address = event.address,
                             .bytes = bytes,
                             .kind = event.allocation_kind,
                             .stack = event.stack,
                             .window = event.window,
                             .thread = event.thread,
                             .committed_ns = event.time_ns,
                             .is_inside = phase == Phase::kInside},
                  .left_bytes = bytes,
                  .is_counted = !is_over_ && (!has_stack_ || has_stack_(event.stack))};
  if (open.is_counted) {
    has_any_ = true;
    for (CommitCounts* const counts : {&all_, &by_stack_[event.stack]}) {
      counts->live.Add(bytes);
      if (!open.commit.is_inside) continue;
      counts->total.Add(bytes);
      counts->outstanding.Add(bytes);
    }
    if (phase == Phase::kInside) RaisePeak(event.time_ns);
  }
  open_.emplace(number, open);
  return number;
}

void CommitTally::Decommit(std::uint64_t number, std::uint64_t bytes, std::uint64_t time_ns,
                           Phase phase) {
  const auto found = open_.find(number);
  if (number == 0 || found == open_.end()) return;
  OpenCommit& open = found->second;
  bytes = std::min(bytes, open.left_bytes);
  open.left_bytes -= bytes;
  const std::uint64_t gone = open.left_bytes == 0 ? 1 : 0;
  if (open.is_counted && !is_over_) {
    for (CommitCounts* const counts : {&all_, &by_stack_[open.commit.stack]}) {
      const RecordedSum part{bytes, gone};
      counts->live = counts->live - part;
      if (open.commit.is_inside) counts->outstanding = counts->outstanding - part;
      if (gone != 0 && phase == Phase::kInside) {
        counts->longest_ns = std::max(counts->longest_ns, time_ns - open.commit.committed_ns);
      }
    }
  }
  if (gone == 0) return;
  open.commit.decommitted_ns = time_ns;
  Close(open, phase);
  open_.erase(found);
}

void CommitTally::Close(OpenCommit& open, Phase phase) {
  if (open.is_counted && phase != Phase::kBefore) KeepIfLarge(open.commit);
}

void CommitTally::KeepIfLarge(const Commit& commit) {
  largest_.insert(commit);
  if (largest_.size() > most_kept_) largest_.erase(std::prev(largest_.end()));
}

void CommitTally::EndInterval() {
  is_over_ = true;
  for (auto& [number, open] : open_) {
    if (open.is_counted && open.commit.is_inside) open.commit.impacting_bytes = open.left_bytes;
  }
}

void CommitTally::Finish() {
  for (auto& [number, open] : open_) Close(open, Phase::kInside);
}

void CommitTally::RaisePeak(std::uint64_t time_ns) {
  if (all_.live.bytes <= peak_bytes_) return;
  peak_bytes_ = all_.live.bytes;
  peak_ns_ = time_ns;
}

std::vector<SnapshotMapping> CommitTally::Mappings() const {
  std::vector<SnapshotMapping> mappings;
  for (const auto& [address, piece] : pieces_) {
    SnapshotMapping mapping{.address = address,
                            .bytes = piece.end - address,
                            .kind = piece.kind,
                            .protection = piece.commit == 0 ? 0U : 3U,
                            .stack = piece.stack,
                            .window = piece.window,
                            .thread = piece.thread,
                            .mapped_ns = piece.mapped_ns};
    const auto open = open_.find(piece.commit);
    if (open != open_.end()) {
      mapping.stack = open->second.commit.stack;
      mapping.window = open->second.commit.window;
      mapping.thread = open->second.commit.thread;
      mapping.mapped_ns = open->second.commit.committed_ns;
    }
    mappings.push_back(mapping);
  }
  return mappings;
}

}  // namespace leakgate
