#include "runner/reach/linux/thread_registers.h"

#include <cstring>

#include "runner/arch/registers.h"
#include "runner/process/interrupted_call.h"

namespace leakgate {

// Any word of the vectors may be a pointer, too.
std::optional<FrozenThread> ReadRegisters(int tid) {
  const std::optional<RegisterSet> general = GetRegisterSet(tid);
  if (!general) return std::nullopt;
  FrozenThread thread;
  thread.tid = tid;
  thread.stack_pointer = StackPointerOf(*general);
  thread.program_counter = ProgramCounterOf(*general);
  thread.thread_pointer = ThreadPointerOf(*general);
  thread.registers = GeneralValuesOf(*general);

  const std::vector<std::uint8_t> vectors = GetVectors(tid).value_or(std::vector<std::uint8_t>());
  const std::size_t general_count = thread.registers.size();
  const std::size_t words = vectors.size() / sizeof(std::uint64_t);
  thread.registers.resize(general_count + words);
  if (words != 0) {
    std::memcpy(&thread.registers[general_count], vectors.data(), words * sizeof(std::uint64_t));
  }
  return thread;
}

void RestartInterruptedCall(int tid) {
  std::optional<RegisterSet> general = GetRegisterSet(tid);
  if (general && RestartInterruptedCall(*general)) (void)SetRegisterSet(tid, *general);
}

}  // namespace leakgate
