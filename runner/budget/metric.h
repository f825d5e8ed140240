// What a budget limits, and what leakgate limits without a budget: quantities, and the numbers in
// which each is expressed. This is the only list of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "runner/base/word_table.h"

namespace leakgate {

enum class Quantity : std::uint8_t {
  kOutstanding,
  kLost,
  kRetained,
  kGrowth,
  kAllocated,
  kTemporary,
  kPeak,
  kMapped,  // its blocks are mappings
  kFileDescriptors,
  kThreads,
  // What repetitions have shown to grow; no budget file names them.
  kSteady,
  kSteadyMapped,
  kSteadyThreads,
  kSteadyFileDescriptors,
};
template <>
struct WordTable<Quantity> {
  static constexpr std::array kWords = {
      Named{Quantity::kOutstanding, "outstanding"},
      Named{Quantity::kLost, "lost"},
      Named{Quantity::kRetained, "retained"},
      Named{Quantity::kGrowth, "growth"},
      Named{Quantity::kAllocated, "allocated"},
      Named{Quantity::kTemporary, "temporary"},
      Named{Quantity::kPeak, "peak"},
      Named{Quantity::kMapped, "mapped"},
      Named{Quantity::kFileDescriptors, "file_descriptors"},
      Named{Quantity::kThreads, "threads"},
      Named{Quantity::kSteady, "steady"},
      Named{Quantity::kSteadyMapped, "steady_mapped"},
      Named{Quantity::kSteadyThreads, "steady_threads"},
      Named{Quantity::kSteadyFileDescriptors, "steady_file_descriptors"}};
};

enum class MetricUnit : std::uint8_t { kBytes, kBlocks, kNumber };

// A number that has a limit: of a quantity, in a unit.
enum class Metric : std::uint8_t {
  kOutstandingBytes,
  kOutstandingBlocks,
  kLostBytes,
  kLostBlocks,
  kRetainedBytes,
  kRetainedBlocks,
  kGrowthBytes,
  kGrowthBlocks,
  kAllocatedBytes,
  kAllocatedBlocks,
  kTemporaryBytes,
  kTemporaryBlocks,
  kPeakBytes,
  kMappedBytes,
  kMappedBlocks,
  kFileDescriptors,
  kThreads,
  kSteadyBytes,
  kSteadyBlocks,
  kSteadyMappedBytes,
  kSteadyMappedBlocks,
  kSteadyThreads,
  kSteadyFileDescriptors,
};

struct MetricParts {
  Metric metric;
  Quantity quantity;
  MetricUnit unit;
  const char* word;
};
inline constexpr std::array kMetrics = {
    MetricParts{Metric::kOutstandingBytes, Quantity::kOutstanding, MetricUnit::kBytes,
                "outstanding_bytes"},
    MetricParts{Metric::kOutstandingBlocks, Quantity::kOutstanding, MetricUnit::kBlocks,
                "outstanding_blocks"},
    MetricParts{Metric::kLostBytes, Quantity::kLost, MetricUnit::kBytes, "lost_bytes"},
    MetricParts{Metric::kLostBlocks, Quantity::kLost, MetricUnit::kBlocks, "lost_blocks"},
    MetricParts{Metric::kRetainedBytes, Quantity::kRetained, MetricUnit::kBytes, "retained_bytes"},
    MetricParts{Metric::kRetainedBlocks, Quantity::kRetained, MetricUnit::kBlocks,
                "retained_blocks"},
    MetricParts{Metric::kGrowthBytes, Quantity::kGrowth, MetricUnit::kBytes, "growth_bytes"},
    MetricParts{Metric::kGrowthBlocks, Quantity::kGrowth, MetricUnit::kBlocks, "growth_blocks"},
    MetricParts{Metric::kAllocatedBytes, Quantity::kAllocated, MetricUnit::kBytes,
                "allocated_bytes"},
    MetricParts{Metric::kAllocatedBlocks, Quantity::kAllocated, MetricUnit::kBlocks,
                "allocated_blocks"},
    MetricParts{Metric::kTemporaryBytes, Quantity::kTemporary, MetricUnit::kBytes,
                "temporary_bytes"},
    MetricParts{Metric::kTemporaryBlocks, Quantity::kTemporary, MetricUnit::kBlocks,
                "temporary_blocks"},
    MetricParts{Metric::kPeakBytes, Quantity::kPeak, MetricUnit::kBytes, "peak_bytes"},
    MetricParts{Metric::kMappedBytes, Quantity::kMapped, MetricUnit::kBytes, "mapped_bytes"},
    MetricParts{Metric::kMappedBlocks, Quantity::kMapped, MetricUnit::kBlocks, "mapped_blocks"},
    MetricParts{Metric::kFileDescriptors, Quantity::kFileDescriptors, MetricUnit::kNumber,
                "file_descriptors"},
    MetricParts{Metric::kThreads, Quantity::kThreads, MetricUnit::kNumber, "threads"},
    MetricParts{Metric::kSteadyBytes, Quantity::kSteady, MetricUnit::kBytes, "steady_bytes"},
    MetricParts{Metric::kSteadyBlocks, Quantity::kSteady, MetricUnit::kBlocks, "steady_blocks"},
    MetricParts{Metric::kSteadyMappedBytes, Quantity::kSteadyMapped, MetricUnit::kBytes,
                "steady_mapped_bytes"},
    MetricParts{Metric::kSteadyMappedBlocks, Quantity::kSteadyMapped, MetricUnit::kBlocks,
                "steady_mapped_blocks"},
    MetricParts{Metric::kSteadyThreads, Quantity::kSteadyThreads, MetricUnit::kNumber,
                "steady_threads"},
    MetricParts{Metric::kSteadyFileDescriptors, Quantity::kSteadyFileDescriptors,
                MetricUnit::kNumber, "steady_file_descriptors"}};

template <>
struct WordTable<Metric> {
  static constexpr auto kWords = [] {
    std::array<Named<Metric>, kMetrics.size()> words{};
    std::transform(kMetrics.begin(), kMetrics.end(), words.begin(), [](const MetricParts& parts) {
      return Named{parts.metric, parts.word};
    });
    return words;
  }();
};

[[nodiscard]] constexpr MetricParts PartsOf(Metric metric) {
  return kMetrics[static_cast<std::size_t>(metric)];
}
[[nodiscard]] constexpr Quantity QuantityOf(Metric metric) { return PartsOf(metric).quantity; }
[[nodiscard]] constexpr MetricUnit UnitOf(Metric metric) { return PartsOf(metric).unit; }
static_assert(std::all_of(kMetrics.begin(), kMetrics.end(), [](const MetricParts& parts) {
  return PartsOf(parts.metric).metric == parts.metric;
}));

// REQUIRES: the quantity is expressed in this unit.
[[nodiscard]] constexpr Metric MetricOf(Quantity quantity, MetricUnit unit) {
  return std::find_if(kMetrics.begin(), kMetrics.end(),
                      [&](const MetricParts& parts) {
                        return parts.quantity == quantity && parts.unit == unit;
                      })
      ->metric;
}

}  // namespace leakgate
