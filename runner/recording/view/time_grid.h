// Cuts the time of an interval into bins, while events pass: at even steps, and where tests begin
// and end and marks are set, so that an interval can begin exactly there. If there are too many
// bins, neighbours are merged: first those that are separated only by a step.
//
//   steps     |      |      |      |      |
//   tests        |       |     |
//   borders   |  |   |   |  |  |   |      |
//
// A border is before all events of its time. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace leakgate {

class TimeGrid {
 public:
  // The reason for a border.
  enum class Kind : std::uint8_t { kStep, kMark, kTest, kFixed };

  // Cuts the time from `begin_ns` to `end_ns` into `steps` parts, and at `fixed_ns`, whose border
  // stays. REQUIRES: begin_ns <= end_ns, steps > 0.
  TimeGrid(std::uint64_t begin_ns, std::uint64_t end_ns, std::size_t steps, std::uint64_t fixed_ns)
      : begin_ns_(begin_ns),
        end_ns_(end_ns),
        step_ns_(std::max<std::uint64_t>(1, (end_ns - begin_ns) / steps)),
        fixed_ns_(fixed_ns > begin_ns && fixed_ns < end_ns ? fixed_ns : kNever) {
    borders_.push_back({begin_ns, Kind::kFixed, 0});
    SetNext();
  }

  // Events of this time and later are in another bin: Pass must be called first.
  [[nodiscard]] std::uint64_t next_ns() const { return next_ns_; }
  // Makes the borders up to `time_ns`.
  void Pass(std::uint64_t time_ns) {
    while (next_ns_ <= time_ns) CutNext();
  }
  // Cuts after all events of `time_ns`, which is the present time.
  void CutBehind(std::uint64_t time_ns, Kind kind) {
    const std::size_t number = ++counts_[At(kind)];
    if (number % strides_[At(kind)] != 0) return;
    if (pending_ns_ != kNever && pending_kind_ > kind) return;
    pending_ns_ = time_ns + 1;
    pending_kind_ = kind;
    pending_number_ = number;
    SetNext();
  }

  [[nodiscard]] std::size_t bin_count() const { return borders_.size(); }
  [[nodiscard]] std::uint64_t BeginOf(std::size_t bin) const { return borders_[bin].time_ns; }
  // Returns the bin that `time_ns` is in. REQUIRES: it is not before the begin.
  [[nodiscard]] std::size_t BinOf(std::uint64_t time_ns) const {
    if (time_ns >= borders_.back().time_ns) return borders_.size() - 1;
    const auto behind =
        std::upper_bound(borders_.begin(), borders_.end(), time_ns,
                         [](std::uint64_t time, const Border& it) { return time < it.time_ns; });
    return behind == borders_.begin() ? 0 : static_cast<std::size_t>(behind - borders_.begin()) - 1;
  }
  // Returns where the bins begin, followed by the end of the interval.
  [[nodiscard]] std::vector<std::uint64_t> Borders() const {
    std::vector<std::uint64_t> times;
    for (const Border& border : borders_) times.push_back(border.time_ns);
    times.push_back(std::max(end_ns_, times.back()));
    return times;
  }

  // Merges bins, and makes no such small ones from now on. Returns the new bin of each bin, or
  // nothing if no border can be removed.
  [[nodiscard]] std::vector<std::size_t> Coarsen() {
    const Kind kind = KindToThin();
    if (kind == Kind::kFixed) return {};
    std::size_t& stride = strides_[At(kind)];
    stride *= 2;
    std::vector<std::size_t> bins;
    std::vector<Border> kept;
    for (const Border& border : borders_) {
      if (border.kind != kind || border.number % stride == 0) kept.push_back(border);
      bins.push_back(kept.size() - 1);
    }
    borders_ = std::move(kept);
    if (pending_ns_ != kNever && pending_kind_ == kind && pending_number_ % stride != 0) {
      pending_ns_ = kNever;
    }
    SetNext();
    return bins;
  }

 private:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  struct Border {
    std::uint64_t time_ns = 0;
    Kind kind = Kind::kStep;
    std::size_t number = 0;  // among all of its kind that could have been, from 1
  };

  static std::size_t At(Kind kind) { return static_cast<std::size_t>(kind); }

  // Steps are less important than marks, and marks less than tests. Some future steps count, too.
  Kind KindToThin() const {
    std::array<std::size_t, 3> worth = {};
    for (const Border& border : borders_) {
      if (border.kind != Kind::kFixed) ++worth[At(border.kind)];
    }
    worth[At(Kind::kStep)] *= 4;
    worth[At(Kind::kMark)] *= 2;
    const auto most = std::max_element(worth.begin(), worth.end());
    return *most == 0 ? Kind::kFixed : static_cast<Kind>(most - worth.begin());
  }

  void CutNext() {
    if (next_ns_ == pending_ns_) {
      Cut(pending_ns_, pending_kind_, pending_number_);
      pending_ns_ = kNever;
    } else if (next_ns_ == fixed_ns_) {
      Cut(fixed_ns_, Kind::kFixed, 0);
      fixed_ns_ = kNever;
    } else {
      const std::size_t number = next_step_;
      next_step_ += strides_[At(Kind::kStep)];
      Cut(next_ns_, Kind::kStep, number);
    }
    SetNext();
  }
  void Cut(std::uint64_t time_ns, Kind kind, std::size_t number) {
    Border& last = borders_.back();
    if (last.time_ns < time_ns) {
      borders_.push_back({time_ns, kind, number});
    } else if (last.kind < kind) {
      last = {last.time_ns, kind, number};
    }
  }
  void SetNext() {
    const std::size_t stride = strides_[At(Kind::kStep)];
    next_step_ = (next_step_ + stride - 1) / stride * stride;
    const bool has_step = next_step_ < (end_ns_ - begin_ns_ + step_ns_ - 1) / step_ns_;
    const std::uint64_t step_ns = has_step ? begin_ns_ + next_step_ * step_ns_ : kNever;
    next_ns_ = std::min({step_ns, pending_ns_, fixed_ns_});
  }

  std::uint64_t begin_ns_;
  std::uint64_t end_ns_;
  std::uint64_t step_ns_;
  std::uint64_t fixed_ns_;
  std::vector<Border> borders_;
  std::size_t next_step_ = 1;
  std::uint64_t pending_ns_ = kNever;
  Kind pending_kind_ = Kind::kStep;
  std::size_t pending_number_ = 0;
  std::uint64_t next_ns_ = kNever;
  std::array<std::size_t, 4> counts_{};
  std::array<std::size_t, 4> strides_{1, 1, 1, 1};
};

}  // namespace leakgate
