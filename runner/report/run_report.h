// A run report as the writers of all formats get it: its JSON, and the values that it
// tells, read from it once, however many writers there are. Used on one thread.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "runner/report/run_result.h"

namespace leakgate {

class RunReport {
 public:
  using Json = nlohmann::ordered_json;

  explicit RunReport(Json json) : json_(std::make_shared<const Json>(std::move(json))) {}

  // For writers that need no JSON, of what was never a report: its json() is null.
  explicit RunReport(RunResult result) : result_(std::move(result)) {}

  // Shared: who has to keep it needs no copy.
  [[nodiscard]] const std::shared_ptr<const Json>& json() const { return json_; }

  // Read when a writer first asks: formats that need but the JSON do not wait for it.
  // Throws as ReadRunReport does.
  [[nodiscard]] const RunResult& result() const;

 private:
  std::shared_ptr<const Json> json_;
  mutable std::optional<RunResult> result_;
};

}  // namespace leakgate
