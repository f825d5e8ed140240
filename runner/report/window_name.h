// How text names a window: "HttpTest.KeepAlive", "HttpTest.KeepAlive #2" in a
// later iteration, "suite HttpTest", "program http_test", "process server of
// HttpTest.KeepAlive". Not made printable.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

// Returns the name without the iteration.
inline std::string PlainWindowName(const WindowResult& window) {
  if (window.kind == WindowKind::kSuite) return "suite " + window.name;
  if (window.kind == WindowKind::kProgram) return "program " + window.name;
  if (window.kind != WindowKind::kProcess) return window.name;
  const std::string process = "process " + window.name;
  return window.started_by.empty() ? process : process + " of " + window.started_by;
}

inline std::string WindowName(const WindowResult& window) {
  const std::string name = PlainWindowName(window);
  return window.iteration > 1 ? name + " #" + std::to_string(window.iteration) : name;
}

// Returns the first few of many names: "A.B, C.D, E.F and 2 more".
inline std::string FirstNames(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 3;
  const std::size_t shown = std::min(names.size(), kMostNames);
  const std::vector<std::string> first(names.begin(), names.begin() + std::ptrdiff_t(shown));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace leakgate
