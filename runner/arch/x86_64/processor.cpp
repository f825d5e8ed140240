#include "runner/arch/processor.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace leakgate {

std::string_view ProcessorName() { return "x86-64"; }

// Files for x32 name the same machine, but have the other class.
bool IsOfThisProcessor(std::uint16_t machine, std::uint8_t file_class) {
  return machine == EM_X86_64 && file_class == ELFCLASS64;
}

bool FillsFunctionSlot(std::uint32_t type) {
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

std::span<const std::uint8_t> RestorerCode() {
  // mov $15, %rax; syscall
  static constexpr std::uint8_t kCode[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
  return kCode;
}

bool IsRestorerOfKernel() { return false; }

//   mov OFFSET(%rip), %rax; add %fs:0, %rax        or the other way round
std::optional<std::uint64_t> FindErrnoOffset(std::span<const std::uint8_t> code,
                                             std::uint64_t address) {
  constexpr std::uint8_t kEndbr[] = {0xF3, 0x0F, 0x1E, 0xFA};
  constexpr std::uint8_t kLoad[] = {0x48, 0x8B, 0x05};  // and four bytes of offset
  constexpr std::uint8_t kAddPointer[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0};
  constexpr std::uint8_t kLoadPointer[] = {0x64, 0x48, 0x8B, 0x04, 0x25, 0, 0, 0, 0};
  constexpr std::uint8_t kAdd[] = {0x48, 0x03, 0x05};  // likewise
  std::size_t at = 0;
  const auto take = [&](const auto& bytes) {
    const bool is_there = std::equal(std::begin(bytes), std::end(bytes),
                                     code.begin() + static_cast<std::ptrdiff_t>(at));
    if (is_there) at += std::size(bytes);
    return is_there;
  };

  take(kEndbr);
  const bool is_load_first = take(kLoad);
  if (!is_load_first && !(take(kLoadPointer) && take(kAdd))) return std::nullopt;
  std::int32_t displacement = 0;
  std::memcpy(&displacement, &code[at], sizeof(displacement));
  at += sizeof(displacement);
  const std::uint64_t slot = address + at + static_cast<std::uint64_t>(std::int64_t{displacement});
  if (is_load_first && !take(kAddPointer)) return std::nullopt;
  return slot;
}

std::string_view DynamicLinkerName() { return "ld-linux-x86-64"; }

ShadowStack KnownShadowStack() {
  return {.status_field = "x86_Thread_features",
          .enabled_word = "shstk",
          .tunable_off = "glibc.cpu.x86_shstk=off"};
}

}  // namespace leakgate
