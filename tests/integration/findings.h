// What a report's window says of each of the user's call sites.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace leakgate::test {

// All but the framework's.
inline std::vector<nlohmann::json> UsersFindings(const nlohmann::json& window) {
  std::vector<nlohmann::json> findings;
  for (const nlohmann::json& finding : window["findings"]) {
    if (!finding.contains("framework_rule")) findings.push_back(finding);
  }
  return findings;
}

// The text under `key`, of each finding; empty where it has none.
inline std::vector<std::string> TextsOf(const nlohmann::json& window, const std::string& key) {
  std::vector<std::string> texts;
  for (const nlohmann::json& finding : UsersFindings(window)) {
    texts.push_back(finding.value(key, ""));
  }
  return texts;
}

}  // namespace leakgate::test
