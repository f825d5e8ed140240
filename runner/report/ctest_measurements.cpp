#include "runner/report/ctest_measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace leakgate {
namespace {

bool IsTest(const WindowResult& window) { return window.kind == WindowKind::kTest; }

std::string Measurement(std::string_view name, std::int64_t value) {
  return fmt::format(
      "<CTestMeasurement type=\"numeric/double\" name=\"leakgate {}\">{}</CTestMeasurement>\n",
      name, value);
}

}  // namespace

std::string CTestMeasurementsText(const RunResult& result) {
  const bool has_tests = std::any_of(result.windows.begin(), result.windows.end(), IsTest);
  Amount outstanding;
  Amount lost;
  for (const WindowResult& window : result.windows) {
    const bool counts = has_tests ? IsTest(window) : window.kind == WindowKind::kProgram;
    if (!counts) continue;
    outstanding += window.outstanding;
    lost += window.lost;
  }
  return Measurement("outstanding bytes", outstanding.bytes) +
         Measurement("outstanding blocks", outstanding.blocks) +
         Measurement("lost bytes", lost.bytes);
}

}  // namespace leakgate
