// How text names a window: "HttpTest.KeepAlive", "HttpTest.KeepAlive #2" in a
// later iteration, "suite HttpTest", "program http_test", "process server of
// HttpTest.KeepAlive". Not made printable.
#pragma once

#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// Without the iteration.
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

}  // namespace leakgate
