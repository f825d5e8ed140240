// What HeldState::vectors holds: the plain vector registers as ptrace returns them (NT_PRFPREG),
// followed by the scalable ones (NT_ARM_SVE), if the processor has any.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leakgate {

struct PlainVectors {
  std::uint8_t registers[32 * 16];
  std::uint32_t status;   // FPSR
  std::uint32_t control;  // FPCR
  std::uint32_t reserved[2];
};
static_assert(sizeof(PlainVectors) == 528);

// What NT_ARM_SVE begins with (arch/arm64/include/uapi/asm/ptrace.h).
struct ScalableHeader {
  std::uint32_t bytes;  // of all: only the header in streaming mode
  std::uint32_t most_bytes;
  std::uint16_t vector_bytes;
  std::uint16_t most_vector_bytes;
  std::uint16_t flags;
  std::uint16_t reserved;
};
static_assert(sizeof(ScalableHeader) == 16);
inline constexpr std::uint16_t kHasScalable = 1;  // otherwise only the plain ones are in use

// The registers follow the header: 32 vectors, and 17 predicates of an eighth of a vector.
constexpr std::size_t ScalableRegisterBytes(std::size_t vector_bytes) {
  return 32 * vector_bytes + 17 * vector_bytes / 8;
}

inline constexpr std::size_t kPlainVectorBytes = sizeof(PlainVectors);
inline constexpr std::size_t kMostScalableBytes = 16384;

}  // namespace leakgate
