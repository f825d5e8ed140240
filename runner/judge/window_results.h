// The results of a process's windows, in one array that becomes the run's: there may be a million.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/result/window_result.h"

namespace leakgate {

class WindowResults {
 public:
  // Returns null if the window has none. What is returned is valid until the next Put.
  [[nodiscard]] WindowResult* Find(std::uint32_t window) {
    const auto place = places_.find(window);
    return place != places_.end() ? &results_[place->second] : nullptr;
  }
  [[nodiscard]] bool contains(std::uint32_t window) const { return places_.contains(window); }

  void Put(std::uint32_t window, WindowResult&& result) {
    const auto [place, is_new] = places_.try_emplace(window, results_.size());
    if (!is_new) {
      results_[place->second] = std::move(result);
      return;
    }
    windows_.push_back(window);
    results_.push_back(std::move(result));
  }

  // Calls `use` with each window and its result.
  template <typename Use>
  void ForEach(Use use) {
    for (std::size_t i = 0; i < results_.size(); ++i) use(windows_[i], results_[i]);
  }

  // Returns the results of these windows, in this order. REQUIRES: each has one.
  [[nodiscard]] std::vector<WindowResult> Take(const std::vector<std::uint32_t>& windows) && {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::size_t from = places_.at(windows[i]);
      if (from == i) continue;
      std::swap(results_[i], results_[from]);
      std::swap(windows_[i], windows_[from]);
      places_[windows_[from]] = from;
    }
    results_.erase(results_.begin() + static_cast<std::ptrdiff_t>(windows.size()), results_.end());
    return std::move(results_);
  }

 private:
  std::vector<WindowResult> results_;
  std::vector<std::uint32_t> windows_;                     // of each result
  std::unordered_map<std::uint32_t, std::size_t> places_;  // by window
};

}  // namespace leakgate
