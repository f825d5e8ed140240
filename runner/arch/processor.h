// What differs between processors in files, the C library, the kernel and machine code. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace leakgate {

// The name of this processor, for messages.
[[nodiscard]] std::string_view ProcessorName();

// Returns whether an ELF file whose header has `machine` (e_machine) and `file_class` is for this
// processor.
[[nodiscard]] bool IsOfThisProcessor(std::uint16_t machine, std::uint8_t file_class);

// Returns whether a relocation of `type` fills a slot with the address of a function, so that calls
// go through the slot.
[[nodiscard]] bool FillsFunctionSlot(std::uint32_t type);

// The dynamic linker's file name begins with this.
[[nodiscard]] std::string_view DynamicLinkerName();

// The functions below recognise machine code of a process's C library, to find what has no symbol.
// The code belongs to another process, and is not trusted.

// The code that a signal handler returns to, which calls rt_sigreturn. Debuggers and unwinders
// depend on these bytes, so they do not change.
[[nodiscard]] std::span<const std::uint8_t> RestorerCode();
// Returns whether that code is in the code that the kernel maps into each process, instead of in
// the C library's.
[[nodiscard]] bool IsRestorerOfKernel();

// __errno_location, whose `code` lies at `address`, reads from memory how far a thread's errno is
// from its thread pointer. Returns the address that it reads; nothing if the code is of a form that
// is not known. REQUIRES: `code` has kErrnoCodeBytes.
inline constexpr std::size_t kErrnoCodeBytes = 24;
[[nodiscard]] std::optional<std::uint64_t> FindErrnoOffset(std::span<const std::uint8_t> code,
                                                           std::uint64_t address);

// A second stack of return addresses, which the processor compares with the first. A process that
// has one cannot be made to call functions from outside. The fields are empty if the kernel does
// not report it.
struct ShadowStack {
  std::string_view status_field;  // the field of /proc/PID/status that reports it
  std::string_view enabled_word;  // is in that field if there is a shadow stack
  std::string_view tunable_off;   // the glibc tunable by which a program starts without it
};
[[nodiscard]] ShadowStack KnownShadowStack();

// The rest reads the machine code of calls: where a call instruction leads, and where the stub
// leads that it may call. The code comes from a file, which is not trusted.

// Returns the `size` bytes of code at `address`; nothing if there is no code.
using CodeReader =
    std::function<std::span<const std::uint8_t>(std::uint64_t address, std::size_t size)>;

// What the instruction in front of a return address may call. Instructions have different lengths,
// so the bytes may be read as more than one of these.
struct CallCode {
  std::optional<std::uint64_t> slot;      // it calls the function whose address is stored here
  std::optional<std::uint64_t> function;  // it calls the function at this address
  bool is_through_pointer = false;        // it calls through a register or through memory
};
[[nodiscard]] CallCode ReadCall(std::uint64_t return_address, const CodeReader& read);

// Returns the slot through which the code at `stub` jumps, directly or through another stub;
// nothing if the code does something else.
[[nodiscard]] std::optional<std::uint64_t> FindSlotOfStub(std::uint64_t stub,
                                                          const CodeReader& read);

}  // namespace leakgate
