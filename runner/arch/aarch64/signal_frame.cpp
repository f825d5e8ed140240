// The frame of aarch64:
//
//   address         siginfo, which nobody reads
//   address + 128   ucontext: signal mask, general registers
//   address + 592   records: the plain vectors; where the extra records are; an end
//   ...             extra records: the scalable vectors, if they are in use; an end
#include "runner/arch/signal_frame.h"

#include <sys/syscall.h>

#include <cstddef>
#include <cstring>

#include "runner/arch/aarch64/instructions.h"
#include "runner/arch/aarch64/vectors.h"
#include "runner/arch/processor.h"

namespace leakgate {
namespace {

// From arch/arm64/include/uapi/asm/sigcontext.h and ucontext.h, which are the kernel's interface.
constexpr std::uint32_t kPlainMagic = 0x4650'8001;
constexpr std::uint32_t kScalableMagic = 0x5356'4501;
constexpr std::uint32_t kExtraMagic = 0x4558'5401;
constexpr std::size_t kRecordAlignment = 16;
constexpr std::size_t kMostRecordBytes = 4096;
// sigaltstack(2) does not know these flags, so it refuses, and the thread keeps its alternate
// stack.
constexpr std::int32_t kKeepAlternateStack = 0x5A5A'0000;

struct KernelFrame {
  std::uint8_t signal[128];
  std::uint64_t flags;
  std::uint64_t link;
  std::uint64_t stack_pointer;
  std::int32_t stack_flags;
  std::int32_t padding0;
  std::uint64_t stack_bytes;
  std::uint64_t signal_mask[16];  // the kernel's has one word, and leaves room
  std::uint64_t padding1;
  std::uint64_t fault_address;
  std::uint64_t x[31];
  std::uint64_t sp;
  std::uint64_t pc;
  std::uint64_t pstate;
  std::uint64_t padding2;
};
static_assert(offsetof(KernelFrame, signal_mask) == 168);
static_assert(offsetof(KernelFrame, fault_address) == 304);
static_assert(sizeof(KernelFrame) == 592);

struct Record {
  std::uint32_t magic;
  std::uint32_t bytes;
};
struct PlainRecord {
  Record head;
  std::uint32_t status;
  std::uint32_t control;
  std::uint8_t registers[sizeof(PlainVectors::registers)];
};
struct ScalableRecord {
  Record head;
  std::uint16_t vector_bytes;
  std::uint16_t reserved[3];
};
struct ExtraRecord {
  Record head;
  std::uint64_t at;
  std::uint32_t bytes;
  std::uint32_t reserved[3];
};
struct EndRecord {
  Record head;
  std::uint64_t padding;
};
static_assert(sizeof(PlainRecord) == 528 && sizeof(ScalableRecord) == 16);
static_assert(sizeof(ExtraRecord) == 32 && sizeof(EndRecord) == 16);

constexpr std::uint64_t AlignUp(std::uint64_t value) {
  return (value + kRecordAlignment - 1) & ~std::uint64_t{kRecordAlignment - 1};
}

template <typename Value>
void Append(std::vector<std::uint8_t>& bytes, const Value& value) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(value));
}

void AppendPlain(std::vector<std::uint8_t>& bytes, const std::vector<std::uint8_t>& vectors) {
  PlainVectors plain{};
  std::memcpy(&plain, vectors.data(), std::min(vectors.size(), sizeof(plain)));
  PlainRecord record{{kPlainMagic, sizeof(record)}, plain.status, plain.control, {}};
  std::memcpy(record.registers, plain.registers, sizeof(record.registers));
  Append(bytes, record);
}

// Returns the scalable vectors as a record; empty if only the plain ones are in use.
std::vector<std::uint8_t> ScalableRecordOf(const std::vector<std::uint8_t>& vectors) {
  ScalableHeader header{};
  if (vectors.size() < kPlainVectorBytes + sizeof(header)) return {};
  const std::uint8_t* const from = &vectors[kPlainVectorBytes];
  std::memcpy(&header, from, sizeof(header));
  const std::size_t register_bytes = ScalableRegisterBytes(header.vector_bytes);
  const std::size_t available = vectors.size() - kPlainVectorBytes - sizeof(header);
  if ((header.flags & kHasScalable) == 0 || register_bytes > available) return {};
  const std::size_t bytes = AlignUp(sizeof(ScalableRecord) + register_bytes);
  std::vector<std::uint8_t> record;
  Append(record, ScalableRecord{
                     {kScalableMagic, static_cast<std::uint32_t>(bytes)}, header.vector_bytes, {}});
  record.insert(record.end(), from + sizeof(header), from + sizeof(header) + register_bytes);
  record.resize(bytes);
  return record;
}

KernelFrame FrameOf(const HeldState& state) {
  KernelFrame frame{};
  frame.stack_flags = kKeepAlternateStack;
  frame.signal_mask[0] = state.blocked_signals;
  std::memcpy(frame.x, state.registers.x, sizeof(frame.x));
  frame.sp = state.registers.sp;
  frame.pc = state.registers.pc;
  frame.pstate = state.registers.pstate;
  return frame;
}

// A function is entered as by an ordinary jump, outside a debugger's single step, and with memory
// tags checked.
constexpr std::uint64_t kBranchType = 3U << 10;
constexpr std::uint64_t kStep = 1U << 21;
constexpr std::uint64_t kTagsUnchecked = 1U << 25;

}  // namespace

// If a thread's call is to be made again, the kernel has put the thread in front of the
// instruction.
SignalFrame MakeSignalFrame(const HeldState& state, std::uint64_t top, std::uint64_t) {
  const std::vector<std::uint8_t> scalable = ScalableRecordOf(state.vectors);
  const std::size_t extra_bytes = scalable.empty() ? 0 : scalable.size() + sizeof(EndRecord);
  SignalFrame frame;
  frame.address =
      (top - sizeof(KernelFrame) - kMostRecordBytes - extra_bytes) & ~(kRecordAlignment - 1);
  frame.returned_at = frame.address;
  Append(frame.bytes, FrameOf(state));
  AppendPlain(frame.bytes, state.vectors);
  if (!scalable.empty()) {
    const std::uint64_t extra_at =
        frame.address + frame.bytes.size() + sizeof(ExtraRecord) + sizeof(EndRecord);
    Append(frame.bytes, ExtraRecord{{kExtraMagic, sizeof(ExtraRecord)},
                                    extra_at,
                                    static_cast<std::uint32_t>(extra_bytes),
                                    {}});
    Append(frame.bytes, EndRecord{});
    frame.bytes.insert(frame.bytes.end(), scalable.begin(), scalable.end());
  }
  Append(frame.bytes, EndRecord{});
  return frame;
}

std::uint64_t FreeStackBelow(const RegisterSet& registers) { return registers.sp - kRedZoneBytes; }

RegisterSet LeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                        std::uint64_t restorer) {
  RegisterSet leaving = registers;
  leaving.pc = restorer;
  leaving.sp = frame.returned_at;
  leaving.pstate &= ~(kBranchType | kStep | kTagsUnchecked);
  leaving.system_call = -1;
  leaving.is_before_call = false;
  leaving.is_behind_call = false;
  return leaving;
}

RegisterSet EnteringCall(const RegisterSet& registers, const SignalFrame& frame,
                         std::uint64_t restorer, const FunctionCall& call) {
  RegisterSet entering = LeavingCall(registers, frame, restorer);
  entering.pc = call.function;
  entering.x[RegisterSet::kLink] = restorer;
  entering.x[RegisterSet::kFrame] = 0;
  std::copy(call.arguments.begin(), call.arguments.end(), entering.x);
  return entering;
}

bool IsLeavingCall(const RegisterSet& registers, const SignalFrame& frame, std::uint64_t restorer) {
  return registers.system_call == SYS_rt_sigreturn &&
         registers.pc == restorer + RestorerCode().size() && registers.sp == frame.returned_at;
}

}  // namespace leakgate
