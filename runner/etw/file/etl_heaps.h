// The heaps of the processes of an .etl file: which blocks were live at its end, by call stack.
//
// Blocks from before the recording are not in it; where such are freed, the trace tells of a free
// of an unknown block. So `losses.unknown_blocks` is no loss here, and neither are blocks without a
// stack: nothing is missing in the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/etw/file/read_etl.h"
#include "runner/etw/trace_losses.h"

namespace leakgate {

// Blocks of one call stack.
struct EtlStackGroup {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::vector<std::string> frames;  // innermost first: "app.exe+0x1234", or "0x7f001234"
};

struct EtlProcess {
  std::uint32_t pid = 0;
  std::string image{};  // empty if the file does not tell it
  std::uint64_t heap_events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
  std::vector<EtlStackGroup> groups{};  // most bytes first; empty unless the process was asked for
  TraceLosses losses{};
  bool is_mixed = false;  // another process began with the same PID
};

struct EtlHeaps {
  std::vector<EtlProcess> processes;  // that have heap events, most first
  EtlGaps gaps;                       // of the file
};

// Reads the blocks of process `pid`, or of the only process that has any; 0: whichever that is.
// Fails as ReadEtl does, and if the file has more than 4096 processes with heap events.
[[nodiscard]] Expected<EtlHeaps> ReadEtlHeaps(const ReadEtlBytes& read, std::uint32_t pid);

// Returns what the process' losses have of what makes its blocks doubtful. What was allocated
// before the recording, and blocks without a stack, do not.
[[nodiscard]] TraceLosses DoubtfulLosses(const EtlProcess& process);

// Whether the blocks of a process are all that there were.
[[nodiscard]] bool IsWhole(const EtlProcess& process, const EtlGaps& gaps);

}  // namespace leakgate
