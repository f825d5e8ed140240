// The machine code of calls: pure, for any kind of file.
#include <algorithm>
#include <array>
#include <cstring>

#include "runner/arch/processor.h"

namespace leakgate {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kNearCallBytes = 5;      // e8 rel32
constexpr std::size_t kIndirectCallBytes = 6;  // ff 15 disp32
constexpr std::size_t kLoadBytes = 7;          // 48 8b modrm disp32
constexpr int kMostArguments = 6;

// Returns the address that the 32-bit displacement at the end of an instruction means. The
// instruction ends at `end`.
std::uint64_t Relative(std::uint64_t end, std::span<const std::uint8_t> displacement) {
  std::int32_t offset = 0;
  std::memcpy(&offset, displacement.data(), sizeof(offset));
  return end + static_cast<std::uint64_t>(std::int64_t{offset});
}

bool StartsWith(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> prefix) {
  return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

// Returns where a forwarding function's jump is: behind the instructions that set up its arguments,
// as in libc_nonshared.a's atexit.
std::uint64_t SkipArguments(std::uint64_t address, const CodeReader& read) {
  static constexpr std::array<std::uint8_t, 4> kEndbr64 = {0xf3, 0x0f, 0x1e, 0xfa};
  for (int count = 0; count < kMostArguments; ++count) {
    const Bytes code = read(address, kLoadBytes);
    if (code.empty()) break;
    const bool is_move = code[0] == 0x48 && (code[1] == 0x8b || code[1] == 0x8d);
    const bool is_clear = code[0] == 0x31 && code[1] >= 0xc0;
    if (StartsWith(code, kEndbr64)) {
      address += kEndbr64.size();
    } else if (is_move && (code[2] & 0xc7) == 0x05) {  // mov or lea disp32(%rip), register
      address += kLoadBytes;
    } else if (is_clear) {  // xor register, register
      address += 2;
    } else {
      break;
    }
  }
  return address;
}

// call *register, call *(register), call *disp(register), with or without SIB
// and REX: ff /2. The instruction is read backwards, so its length is tried.
bool EndsInPointerCall(std::uint64_t return_address, const CodeReader& read) {
  struct Form {
    std::size_t bytes;
    std::uint8_t modes;  // bit n: ModRM.mod n has this length
    bool has_sib;
  };
  static constexpr std::array<Form, 6> kForms = {{{2, 0b1001, false},
                                                  {3, 0b0001, true},
                                                  {3, 0b0010, false},
                                                  {4, 0b0010, true},
                                                  {6, 0b0100, false},
                                                  {7, 0b0100, true}}};
  return std::any_of(kForms.begin(), kForms.end(), [&](const Form& form) {
    const Bytes call = read(return_address - form.bytes, form.bytes);
    if (call.empty() || call[0] != 0xff || ((call[1] >> 3) & 7) != 2) return false;
    const int mode = call[1] >> 6;
    const bool has_sib = mode != 3 && (call[1] & 7) == 4;
    return ((form.modes >> mode) & 1) != 0 && has_sib == form.has_sib;
  });
}

}  // namespace

CallCode ReadCall(std::uint64_t return_address, const CodeReader& read) {
  static constexpr std::array<std::uint8_t, 1> kNearCall = {0xe8};
  static constexpr std::array<std::uint8_t, 2> kIndirectCall = {0xff, 0x15};
  CallCode call;
  const Bytes indirect = read(return_address - kIndirectCallBytes, kIndirectCallBytes);
  if (StartsWith(indirect, kIndirectCall)) {
    call.slot = Relative(return_address, indirect.subspan(kIndirectCall.size()));
  }
  const Bytes near_call = read(return_address - kNearCallBytes, kNearCallBytes);
  if (StartsWith(near_call, kNearCall)) {
    call.function = Relative(return_address, near_call.subspan(kNearCall.size()));
  }
  call.is_through_pointer = call.slot.has_value() || EndsInPointerCall(return_address, read);
  return call;
}

std::optional<std::uint64_t> FindSlotOfStub(std::uint64_t stub, const CodeReader& read) {
  static constexpr std::array<std::uint8_t, 1> kBnd = {0xf2};
  static constexpr std::array<std::uint8_t, 1> kJump = {0xe9};
  static constexpr std::array<std::uint8_t, 2> kSlotJump = {0xff, 0x25};
  for (int jumps = 0; jumps < 2; ++jumps) {  // a forwarding function, then its stub
    stub = SkipArguments(stub, read);
    if (StartsWith(read(stub, kBnd.size()), kBnd)) stub += kBnd.size();
    const Bytes slot_jump = read(stub, kIndirectCallBytes);
    if (StartsWith(slot_jump, kSlotJump)) {
      return Relative(stub + kIndirectCallBytes, slot_jump.subspan(kSlotJump.size()));
    }
    const Bytes jump = read(stub, kNearCallBytes);
    if (!StartsWith(jump, kJump)) return std::nullopt;
    stub = Relative(stub + kNearCallBytes, jump.subspan(kJump.size()));
  }
  return std::nullopt;
}

}  // namespace leakgate
