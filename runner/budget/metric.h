// What a budget limits, and what leakgate limits where no budget does: quantities, and the numbers
// that each of them is told by. All of them stand here, once.
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
template <>
struct WordTable<Metric> {
  static constexpr std::array kWords = {
      Named{Metric::kOutstandingBytes, "outstanding_bytes"},
      Named{Metric::kOutstandingBlocks, "outstanding_blocks"},
      Named{Metric::kLostBytes, "lost_bytes"},
      Named{Metric::kLostBlocks, "lost_blocks"},
      Named{Metric::kRetainedBytes, "retained_bytes"},
      Named{Metric::kRetainedBlocks, "retained_blocks"},
      Named{Metric::kGrowthBytes, "growth_bytes"},
      Named{Metric::kGrowthBlocks, "growth_blocks"},
      Named{Metric::kAllocatedBytes, "allocated_bytes"},
      Named{Metric::kAllocatedBlocks, "allocated_blocks"},
      Named{Metric::kTemporaryBytes, "temporary_bytes"},
      Named{Metric::kTemporaryBlocks, "temporary_blocks"},
      Named{Metric::kPeakBytes, "peak_bytes"},
      Named{Metric::kMappedBytes, "mapped_bytes"},
      Named{Metric::kMappedBlocks, "mapped_blocks"},
      Named{Metric::kFileDescriptors, "file_descriptors"},
      Named{Metric::kThreads, "threads"},
      Named{Metric::kSteadyBytes, "steady_bytes"},
      Named{Metric::kSteadyBlocks, "steady_blocks"},
      Named{Metric::kSteadyMappedBytes, "steady_mapped_bytes"},
      Named{Metric::kSteadyMappedBlocks, "steady_mapped_blocks"},
      Named{Metric::kSteadyThreads, "steady_threads"},
      Named{Metric::kSteadyFileDescriptors, "steady_file_descriptors"}};
};

struct MetricParts {
  Metric metric;
  Quantity quantity;
  MetricUnit unit;
};
inline constexpr std::array kMetrics = {
    MetricParts{Metric::kOutstandingBytes, Quantity::kOutstanding, MetricUnit::kBytes},
    MetricParts{Metric::kOutstandingBlocks, Quantity::kOutstanding, MetricUnit::kBlocks},
    MetricParts{Metric::kLostBytes, Quantity::kLost, MetricUnit::kBytes},
    MetricParts{Metric::kLostBlocks, Quantity::kLost, MetricUnit::kBlocks},
    MetricParts{Metric::kRetainedBytes, Quantity::kRetained, MetricUnit::kBytes},
    MetricParts{Metric::kRetainedBlocks, Quantity::kRetained, MetricUnit::kBlocks},
    MetricParts{Metric::kGrowthBytes, Quantity::kGrowth, MetricUnit::kBytes},
    MetricParts{Metric::kGrowthBlocks, Quantity::kGrowth, MetricUnit::kBlocks},
    MetricParts{Metric::kAllocatedBytes, Quantity::kAllocated, MetricUnit::kBytes},
    MetricParts{Metric::kAllocatedBlocks, Quantity::kAllocated, MetricUnit::kBlocks},
    MetricParts{Metric::kTemporaryBytes, Quantity::kTemporary, MetricUnit::kBytes},
    MetricParts{Metric::kTemporaryBlocks, Quantity::kTemporary, MetricUnit::kBlocks},
    MetricParts{Metric::kPeakBytes, Quantity::kPeak, MetricUnit::kBytes},
    MetricParts{Metric::kMappedBytes, Quantity::kMapped, MetricUnit::kBytes},
    MetricParts{Metric::kMappedBlocks, Quantity::kMapped, MetricUnit::kBlocks},
    MetricParts{Metric::kFileDescriptors, Quantity::kFileDescriptors, MetricUnit::kNumber},
    MetricParts{Metric::kThreads, Quantity::kThreads, MetricUnit::kNumber},
    MetricParts{Metric::kSteadyBytes, Quantity::kSteady, MetricUnit::kBytes},
    MetricParts{Metric::kSteadyBlocks, Quantity::kSteady, MetricUnit::kBlocks},
    MetricParts{Metric::kSteadyMappedBytes, Quantity::kSteadyMapped, MetricUnit::kBytes},
    MetricParts{Metric::kSteadyMappedBlocks, Quantity::kSteadyMapped, MetricUnit::kBlocks},
    MetricParts{Metric::kSteadyThreads, Quantity::kSteadyThreads, MetricUnit::kNumber},
    MetricParts{Metric::kSteadyFileDescriptors, Quantity::kSteadyFileDescriptors,
                MetricUnit::kNumber}};

[[nodiscard]] constexpr MetricParts PartsOf(Metric metric) {
  return kMetrics[static_cast<std::size_t>(metric)];
}
[[nodiscard]] constexpr Quantity QuantityOf(Metric metric) { return PartsOf(metric).quantity; }
[[nodiscard]] constexpr MetricUnit UnitOf(Metric metric) { return PartsOf(metric).unit; }
static_assert(std::all_of(kMetrics.begin(), kMetrics.end(), [](const MetricParts& parts) {
  return PartsOf(parts.metric).metric == parts.metric;
}));

// REQUIRES: the quantity is told in this unit.
[[nodiscard]] constexpr Metric MetricOf(Quantity quantity, MetricUnit unit) {
  return std::find_if(kMetrics.begin(), kMetrics.end(),
                      [&](const MetricParts& parts) {
                        return parts.quantity == quantity && parts.unit == unit;
                      })
      ->metric;
}

}  // namespace leakgate
