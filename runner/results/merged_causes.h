// The causes of many runs (runner/report/causes.h), merged. Runs are added one by one. Of a cause
// its amounts and counts are kept, and where it is worst: those that are shown are read again.
//
// Used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "runner/base/expected.h"
#include "runner/report/causes.h"
#include "runner/results/result_file.h"

namespace leakgate {

class MergedCauses {
 public:
  void Add(const RunResult& run, const RunPlace& place);

  [[nodiscard]] std::size_t size() const { return totals_.size(); }

  // Returns the `most` causes of most bytes, with what all runs have of them. Returns an error if a
  // result has changed since it was added.
  [[nodiscard]] Expected<std::vector<Cause>> Largest(std::size_t most) const;

 private:
  struct Total {
    Cause cause;                                // without the parts of one run
    std::unordered_set<std::uint64_t> windows;  // hashes of their binaries and names
    std::set<std::string> first_names;
    std::int64_t worst_bytes = -1;
    RunPlace worst;
  };

  std::map<std::string, Total> totals_;  // by key
};

}  // namespace leakgate
