// Windows that fail for what they have lost, for tests of what writes budget files.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runner/result/run_result.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {

inline Finding LostAt(const std::string& function, Amount amount) {
  Finding finding;
  finding.amount = amount;
  finding.stack = {In(function)};
  finding.user_frame = 0;
  finding.reach = Reach::kLost;
  return finding;
}

inline WindowResult Failing(std::vector<Finding> findings) {
  WindowResult window;
  window.verdict = Verdict::kOverBudget;
  window.findings = std::move(findings);
  return window;
}

}  // namespace leakgate
