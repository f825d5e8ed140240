// The baseline that `leakgate adopt` writes: a report of what the runs failed for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/results/merged_causes.h"
#include "runner/results/result_file.h"

namespace leakgate {

class AcceptedBaseline {
 public:
  explicit AcceptedBaseline(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] bool empty() const { return places_.empty(); }
  // Returns whether any of the runs failed.
  [[nodiscard]] bool HasCauses() const { return causes_.size() != 0; }

  // Accepts the run, whose report has to stay at its place.
  void Add(const RunResult& run, const RunPlace& place);
  [[nodiscard]] Expected<void> Write() const;
  // Returns what is accepted, by cause.
  [[nodiscard]] Expected<std::string> Text(const std::string& base_directory) const;

 private:
  const std::filesystem::path file_;
  std::vector<RunPlace> places_;
  MergedCauses causes_;
};

// Writes a report with one run, and returns its place.
[[nodiscard]] Expected<RunPlace> WriteRunReport(const std::filesystem::path& file,
                                                const RunResult& run);

}  // namespace leakgate
