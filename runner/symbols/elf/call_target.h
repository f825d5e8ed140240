// Finds out which exported function a call instruction calls.
//
// A stack shows where a call returns to, but not what was called: a stripped libc names none of its
// internal functions, and an exported one such as setenv may jump into an internal one and so leave
// the stack. Only the caller's call instruction shows it.
//
//   call stub        stub: jmp *slot(%rip)    slot's relocation: setenv
//   call *slot(%rip)                          slot's relocation: setenv
//   call atexit      atexit: mov ...; jmp stub    (linked into each program)
//
// The result is empty for a file of another processor, and for calls within the module. Used by
// ModuleFile. Addresses are the file's own; the file is not trusted.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace leakgate {

struct CallTarget {
  std::string exported;          // without its version; empty if it cannot be found out
  bool through_pointer = false;  // the call goes neither to a fixed address nor through a slot
                                 // that the loader fills
};

class CallTargets {
 public:
  // Reads the code and the relocations of `elf`, which must outlive this. If `elf` is null,
  // nothing is known.
  explicit CallTargets(Elf* elf);

  // Returns what the call instruction that ends at `return_address` calls.
  [[nodiscard]] CallTarget CalledAt(std::uint64_t return_address) const;

  // Returns whether the function that begins at `function` certainly only returns the pointer that
  // this call gives it (arch/return_value.h).
  [[nodiscard]] bool IsOnlyReturned(std::uint64_t function, std::uint64_t return_address) const;

 private:
  using Bytes = std::span<const std::uint8_t>;

  struct Segment {
    std::uint64_t begin;
    Bytes bytes;
  };

  void ReadSegments(Elf* elf);
  void ReadRelocations(Elf* elf, Elf_Scn* section);
  [[nodiscard]] Bytes Read(std::uint64_t address, std::size_t size) const;
  [[nodiscard]] std::string NameOfSlot(std::uint64_t slot) const;

  std::vector<Segment> segments_;
  std::unordered_map<std::uint64_t, std::string> name_of_slot_;
};

}  // namespace leakgate
