// A report in the making: of one run, or of many that were merged, in one format.
//
// Every format is written from the values of a run, so that a run that was read from a file
// is written as one that has just ended.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "runner/result/run_result.h"

namespace leakgate {

// The whole text of a source file; nullopt if it cannot be had.
using ReadSource = std::function<std::optional<std::string>(const std::string& file)>;

struct ReportWriter {
  // One run of the baseline at a time, before all else. Empty where a format compares
  // nothing.
  std::function<void(const RunResult& run)> add_baseline;
  // One run at a time, in the order that the report is to have; none is kept whole, so that
  // memory does not grow with their number.
  std::function<void(const RunResult& run)> add;
  // Once, after the last.
  std::function<void()> finish;
};

// What the memory is that profiles (folded, pprof, speedscope) tell of.
enum class ProfiledMemory {
  kOutstanding,  // that a run left
  kLive,         // that a snapshot holds
};

// What a report tells of its surroundings: values, so that the same runs give the same
// bytes wherever they are written.
struct ReportSurroundings {
  std::string source_root;  // absolute; files below it are named from there. Empty: none
  std::string version;      // leakgate's own, "0.1.0"
  ProfiledMemory profiled = ProfiledMemory::kOutstanding;
  std::size_t runs = 1;  // how many the report will tell of
  // For the source lines of a page; empty: it quotes none. What others have written names
  // files, too: whoever sets it says which of them may be read.
  ReadSource read_source{};
};

}  // namespace leakgate
