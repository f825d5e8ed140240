#include "runner/arch/elf_machine.h"

namespace leakgate {

std::string_view ProcessorName() { return "x86-64"; }

// x32 has the same machine in files of the other class.
bool IsOfThisProcessor(std::uint16_t machine, std::uint8_t file_class) {
  return machine == EM_X86_64 && file_class == ELFCLASS64;
}

bool FillsFunctionSlot(std::uint32_t type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

}  // namespace leakgate
