#include "runner/recording/view/lives_over_time.h"

#include <algorithm>
#include <tuple>

namespace leakgate {
namespace {

constexpr std::size_t kNoSpan = SIZE_MAX;

// Blocks from before the interval come first.
std::tuple<std::size_t, std::size_t, std::uint32_t, std::size_t> OrderOf(const Life& life) {
  const LifeKey& key = life.key;
  return {(key.allocated_bin + 1) & LifeKey::kBefore, key.freed_bin, key.stack, key.decade};
}

}  // namespace

LivesOverTime::LivesOverTime(LivesOptions options, StackNumbers numbers)
    : options_(std::move(options)),
      numbers_(std::move(numbers)),
      kept_stacks_(
          static_cast<std::uint32_t>(std::max<std::size_t>(numbers_.rest_of.size(), 1) - 1)),
      player_(options_.interval, *this),
      phase_(player_.watch().phase()),
      grid_(options_.begin_ns, std::max(options_.begin_ns, options_.end_ns), options_.steps,
            options_.fixed_ns),
      curve_(options_.begin_ns, std::max(options_.begin_ns, options_.end_ns), options_.points) {
  BeginInterval();
}

void LivesOverTime::AddLive(std::span<const LiveBlock> blocks) {
  player_.AddLive(blocks);
  if (phase_ == Phase::kInside) BeginInterval();
}

void LivesOverTime::Comes(const RecordedEvent& event) {
  now_ns_ = event.time_ns;
  if (phase_ == Phase::kInside && event.time_ns >= grid_.next_ns()) [[unlikely]]
    PassTime(event.time_ns);
  while (lives_.size() >= options_.lives) {
    if (!Reduce()) break;
  }
}

void LivesOverTime::Before(const RecordedEvent& event) {
  if (event.kind == RecordedKind::kWindowEnds) Close(event.window, event.time_ns);
}

void LivesOverTime::After(const RecordedEvent& event) {
  if (event.kind == RecordedKind::kWindowBegins) Open(event.window, event.time_ns);
  if (event.kind == RecordedKind::kMark && phase_ == Phase::kInside) AddMark(event);
}

void LivesOverTime::Finish(std::uint64_t end_ns) {
  end_ns = std::max(end_ns, now_ns_);
  player_.PassTime(end_ns);
  if (options_.end_ns > options_.begin_ns) PassTime(options_.end_ns - 1);
  player_.lives().live().ForEach([&](const RecordedBlock& block) {
    if (block.is_counted == 0) return;
    lives_.At(KeyOf(block, LifeKey::kNever, 0)).sum.Add(block.size_bytes);
  });
  while (lives_.size() > options_.lives) {
    if (!Reduce()) break;
  }
  for (const OpenWindow& open : open_) {
    if (open.span != kNoSpan) windows_[open.span].end_ns = std::max(options_.end_ns, now_ns_);
  }
  curve_.Finish();
}

// Bins are merged first, as long as there are more than a reader needs to choose an interval by
// dragging.
bool LivesOverTime::Reduce() {
  constexpr std::size_t kManyBins = 256;
  constexpr std::size_t kManyStacks = 1000;
  const std::size_t bins = grid_.bin_count();
  const bool has_more_stacks = kept_stacks_ * kManyBins > bins * kManyStacks;
  if (bins > kManyBins || !has_more_stacks) {
    if (MergeBins()) return true;
  }
  if (kept_stacks_ == 0) return MergeBins();
  FoldStacks();
  return true;
}

void LivesOverTime::FoldStacks() {
  kept_stacks_ /= 2;
  lives_.Rekey([this](LifeKey key) {
    key.stack = NumberNow(key.stack);
    return key;
  });
}

bool LivesOverTime::MergeBins() {
  const std::vector<std::size_t> bins = grid_.Coarsen();
  if (bins.empty()) return false;
  std::vector<BinPeak> peaks;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins[bin] == peaks.size()) {
      peaks.push_back(peaks_[bin]);
    } else if (peaks_[bin].live.bytes > peaks.back().live.bytes) {
      peaks.back() = peaks_[bin];
    }
  }
  peaks_ = std::move(peaks);
  const auto to = [&](std::size_t bin) { return bin < bins.size() ? bins[bin] : bin; };
  lives_.Rekey([&](const LifeKey& key) {
    return LifeKey{.stack = key.stack,
                   .allocated_bin = to(key.allocated_bin),
                   .freed_bin = to(key.freed_bin),
                   .decade = key.decade};
  });
  return true;
}

std::vector<Life> LivesOverTime::Lives() const {
  std::vector<Life> lives;
  lives.reserve(lives_.size());
  lives_.ForEach([&](const LifeKey& key, const LifeTable::Sums& sums) {
    if (sums.sum == RecordedSum() && sums.temporary == RecordedSum()) return;
    lives.push_back({.key = key, .sum = sums.sum, .temporary = sums.temporary});
  });
  std::sort(lives.begin(), lives.end(),
            [](const Life& a, const Life& b) { return OrderOf(a) < OrderOf(b); });
  return lives;
}

void LivesOverTime::FollowPhase() {
  const Phase before = phase_;
  phase_ = player_.watch().phase();
  if (before == Phase::kBefore) {
    BeginInterval();
    for (OpenWindow& open : open_) open.span = AddSpan(open.window, options_.begin_ns);
  }
}

void LivesOverTime::BeginInterval() {
  peaks_ = {{.live = live_, .time_ns = options_.begin_ns}};
  curve_.Begin(live_.bytes);
}

void LivesOverTime::PassTime(std::uint64_t time_ns) {
  grid_.Pass(time_ns);
  while (peaks_.size() < grid_.bin_count()) {
    peaks_.push_back({.live = live_, .time_ns = grid_.BeginOf(peaks_.size())});
  }
  while (grid_.bin_count() > std::min(options_.bins, LifeKey::kMostBins)) {
    if (!MergeBins()) break;
  }
}

void LivesOverTime::SetLive(std::uint64_t time_ns) {
  if (phase_ == Phase::kInside) curve_.Set(time_ns, live_.bytes);
}

void LivesOverTime::Open(std::uint32_t window, std::uint64_t time_ns) {
  const bool is_inside = phase_ == Phase::kInside;
  if (phase_ == Phase::kAfter) return;
  // The begin of a test may come twice, once it is known to have begun.
  const bool is_open = std::any_of(open_.begin(), open_.end(),
                                   [&](const OpenWindow& it) { return it.window == window; });
  constexpr std::size_t kMostOpen = 64;  // as in event_tally.cpp
  if (is_open || open_.size() == kMostOpen) return;
  open_.push_back({window, is_inside ? AddSpan(window, time_ns) : kNoSpan});
  if (is_inside) grid_.CutBehind(time_ns, TimeGrid::Kind::kTest);
}

void LivesOverTime::Close(std::uint32_t window, std::uint64_t time_ns) {
  if (phase_ == Phase::kAfter) return;
  std::erase_if(open_, [&](const OpenWindow& open) {
    if (open.window != window) return false;
    if (open.span != kNoSpan) windows_[open.span].end_ns = time_ns;
    return true;
  });
  if (phase_ == Phase::kInside) grid_.CutBehind(time_ns, TimeGrid::Kind::kTest);
}

std::size_t LivesOverTime::AddSpan(std::uint32_t window, std::uint64_t time_ns) {
  ++window_count_;
  if (windows_.size() == options_.windows) return kNoSpan;
  windows_.push_back({.window = window, .begin_ns = std::max(time_ns, options_.begin_ns)});
  return windows_.size() - 1;
}

void LivesOverTime::AddMark(const RecordedEvent& event) {
  ++mark_count_;
  if (marks_.size() < options_.marks) marks_.push_back({event.mark, event.time_ns});
  grid_.CutBehind(event.time_ns, TimeGrid::Kind::kMark);
}

void LivesOverTime::Choose(RecordedBlock& block) {
  const auto stack = static_cast<std::uint32_t>(block.stack);
  const std::vector<std::uint32_t>& numbers = numbers_.of_stack;
  const std::uint32_t number = stack < numbers.size() ? numbers[stack] : StackNumbers::kNotCounted;
  if (number == StackNumbers::kNotCounted || !options_.size_bytes.Has(block.size_bytes)) return;
  block.is_counted = 1;
  block.stack = number;
}

LifeKey LivesOverTime::KeyOf(const RecordedBlock& block, std::size_t freed_bin,
                             std::uint64_t end_ns) const {
  const bool is_inside = block.is_inside != 0;
  const bool has_ended = freed_bin != LifeKey::kNever && freed_bin != LifeKey::kAfter;
  const std::uint64_t lifetime_ns = end_ns - std::min<std::uint64_t>(end_ns, block.allocated_ns);
  return {.stack = NumberNow(static_cast<std::uint32_t>(block.stack)),
          .allocated_bin = is_inside ? grid_.BinOf(block.allocated_ns) : LifeKey::kBefore,
          .freed_bin = freed_bin,
          .decade = is_inside && has_ended ? LifetimeDecades::DecadeOf(lifetime_ns) : 0};
}

void LivesOverTime::WasLive(RecordedBlock& block) {
  Choose(block);
  if (block.is_counted != 0) live_.Add(block.size_bytes);
}

void LivesOverTime::Allocated(RecordedBlock& block) {
  Choose(block);
  block.is_inside = phase_ == Phase::kInside ? 1 : 0;
  if (block.is_counted == 0) return;
  live_.Add(block.size_bytes);
}

void LivesOverTime::IsLive(const RecordedBlock& block) {
  if (block.is_counted == 0 || phase_ != Phase::kInside) return;
  SetLive(now_ns_);
  if (live_.bytes <= peaks_.back().live.bytes) return;
  peaks_.back() = {
      .live = live_, .time_ns = now_ns_, .window = static_cast<std::uint32_t>(block.window)};
}

void LivesOverTime::Freed(RecordedBlock& block, const BlockEnd& end) {
  block.freed_in = static_cast<std::uint64_t>(phase_) & 3;
  if (block.is_counted == 0) return;
  if (phase_ == Phase::kAfter) {
    lives_.At(KeyOf(block, LifeKey::kAfter, 0)).sum.Add(block.size_bytes);
    return;
  }
  live_.Remove(block.size_bytes);
  if (phase_ == Phase::kBefore) return;
  SetLive(now_ns_);
  LifeTable::Sums& sums = lives_.At(KeyOf(block, BinNow(), end.time_ns));
  sums.sum.Add(block.size_bytes);
  if (block.is_inside != 0 && end.was_temporary) sums.temporary.Add(block.size_bytes);
}

// Handles the free of a block after which another one was allocated at its address.
void LivesOverTime::FreedEarlier(const RecordedBlock& block, const BlockEnd& end) {
  if (phase_ != Phase::kInside || !end.was_temporary) return;
  if (block.is_counted == 0 || block.is_inside == 0) return;
  lives_.At(KeyOf(block, BinNow(), end.time_ns)).temporary.Add(block.size_bytes);
}

// Undoes what Freed has counted.
void LivesOverTime::Restored(RecordedBlock& block, const BlockEnd& end) {
  if (block.is_counted == 0) return;
  const auto freed_in = static_cast<Phase>(block.freed_in);
  if (phase_ != Phase::kAfter) live_.Add(block.size_bytes);
  if (freed_in != Phase::kBefore) {
    const bool is_after = freed_in == Phase::kAfter;
    const std::size_t bin = is_after ? LifeKey::kAfter : grid_.BinOf(end.time_ns);
    LifeTable::Sums& sums = lives_.At(KeyOf(block, bin, is_after ? 0 : end.time_ns));
    sums.sum.Remove(block.size_bytes);
    const bool was_temporary = !is_after && block.is_inside != 0 && end.was_temporary;
    if (was_temporary) sums.temporary.Remove(block.size_bytes);
  }
  IsLive(block);
}

// Placed after the functions that it calls for each event, so that they are inlined.
void LivesOverTime::Add(std::span<const RecordedEvent> events) { player_.Add(events); }

}  // namespace leakgate
