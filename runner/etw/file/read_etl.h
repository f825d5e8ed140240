// Reads the events of an .etl file in the order of their times. A buffer of the file has events of
// one processor, nearly in order; buffers of several processors, and of several sessions that were
// merged, stand in any order:
//
//   buffers with the times    10, 40    90    20, 30, 95
//   are read as               10, 20, 30, 40, 90, 95
//
// A buffer is in memory from its first time to its last. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "runner/base/expected.h"
#include "runner/etw/file/etl_layout.h"

namespace leakgate {

// What the file itself lacks, and what of it was not read. With any of it, what is read proves
// nothing.
struct EtlGaps {
  std::uint64_t lost_events = 0;         // as the file says
  std::uint64_t lost_buffers = 0;        // as the file says
  std::uint64_t missing_buffers = 0;     // written, and not in the file: it was cut
  std::uint64_t unread_buffers = 0;      // of no known layout
  std::uint64_t compressed_buffers = 0;  // whose layout is not public
  std::uint64_t broken_buffers = 0;      // read in part
  std::uint64_t heap_snapshots = 0;      // events of wpr's snapshots, whose layout is not public
  std::uint64_t events_of_nobody = 0;    // of heaps, without a process

  bool operator==(const EtlGaps&) const = default;
};
// Returns one line, "5 events lost, 1 buffer compressed", or "" if nothing lacks.
[[nodiscard]] std::string DescribeGaps(const EtlGaps& gaps);

// Reads bytes of the file. Returns how many there were: fewer at its end, or on failure.
using ReadEtlBytes =
    std::function<std::size_t(std::byte* to, std::size_t size, std::uint64_t offset)>;

// Calls `take` for each record of heaps, stacks and modules; what a record refers to is valid
// during the call. Returns a usage error if this is no .etl file, or if it would take more than
// 1 GiB of memory at once.
[[nodiscard]] Expected<EtlGaps> ReadEtl(const ReadEtlBytes& read,
                                        const std::function<void(const EtlRecord&)>& take);

}  // namespace leakgate
