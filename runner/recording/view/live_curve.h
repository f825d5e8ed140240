// What is live over time, as a curve of a fixed number of points: each has the most and the least
// that was live in its span, so that no peak is left out. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

class LiveCurve {
 public:
  struct Point {
    std::uint64_t most = 0;  // bytes
    std::uint64_t least = 0;
  };

  // REQUIRES: begin_ns <= end_ns, points > 1.
  LiveCurve(std::uint64_t begin_ns, std::uint64_t end_ns, std::size_t points)
      : begin_ns_(begin_ns),
        step_ns_((end_ns - begin_ns) / points + 1),
        most_points_(static_cast<std::size_t>((end_ns - begin_ns) / step_ns_) + 1) {}

  // So much is live when it begins.
  void Begin(std::uint64_t bytes) {
    live_ = bytes;
    points_ = {{bytes, bytes}};
  }
  // So much is live from `time_ns` on. REQUIRES: Begin; times do not go back.
  void Set(std::uint64_t time_ns, std::uint64_t bytes) {
    PassTo(time_ns);
    live_ = bytes;
    Point& now = points_.back();
    now.most = std::max(now.most, bytes);
    now.least = std::min(now.least, bytes);
  }
  void Finish() {
    while (!points_.empty() && points_.size() < most_points_) points_.push_back({live_, live_});
  }

  [[nodiscard]] std::uint64_t step_ns() const { return step_ns_; }
  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  void PassTo(std::uint64_t time_ns) {
    const auto at = static_cast<std::size_t>((time_ns - std::min(time_ns, begin_ns_)) / step_ns_);
    while (points_.size() <= at && points_.size() < most_points_) {
      points_.push_back({live_, live_});
    }
  }

  std::uint64_t begin_ns_;
  std::uint64_t step_ns_;
  std::size_t most_points_;
  std::uint64_t live_ = 0;
  std::vector<Point> points_;
};

}  // namespace leakgate
