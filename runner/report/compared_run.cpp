#include "runner/report/compared_run.h"

#include <array>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKeys = {"kind",        "name",   "iteration", "verdict", "component",
                              "outstanding", "lost",   "retained",  "allowed", "known",
                              "framework",   "growth", "allocated"};

Json ComparedWindow(const Json& window) {
  Json compared = Json::object();
  for (const char* const key : kKeys) {
    if (const auto value = window.find(key); value != window.end()) compared[key] = *value;
  }
  return compared;
}

}  // namespace

Json ComparedRun(const Json& run) {
  Json compared = Json::object();
  if (!run.is_object()) return compared;
  if (const auto binary = run.find("binary"); binary != run.end()) compared["binary"] = *binary;
  const auto windows = run.find("windows");
  if (windows == run.end() || !windows->is_array()) return compared;
  Json& array = compared["windows"] = Json::array();
  for (const Json& window : *windows) array.push_back(ComparedWindow(window));
  return compared;
}

}  // namespace leakgate
