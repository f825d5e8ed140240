// The frame of x86-64:
//
//   address       return address: the restorer
//   address + 8   ucontext: general registers, signal mask, where the vectors are
//   ...           vectors, as XSAVE writes them, aligned to 64
#include "runner/arch/signal_frame.h"

#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "runner/arch/processor.h"

namespace leakgate {
namespace {

// From arch/x86/include/uapi/asm/sigcontext.h and ucontext.h, which are the kernel's interface.
constexpr std::uint32_t kMagic1 = 0x4650'5853;
constexpr std::uint32_t kMagic2 = 0x4650'5845;
constexpr std::uint64_t kHasVectors = 1;       // UC_FP_XSTATE
constexpr std::uint64_t kHasStackSegment = 2;  // UC_SIGCONTEXT_SS
constexpr std::uint64_t kStrictSegment = 4;    // UC_STRICT_RESTORE_SS
// The results of system calls by which the kernel says that they are to begin again
// (include/linux/errno.h).
constexpr long long kRestart[] = {512, 513, 514, 516};
// sigaltstack(2) does not know these flags, so it refuses, and the thread keeps its alternate
// stack.
constexpr std::int32_t kKeepAlternateStack = 0x5A5A'0000;

struct KernelStack {
  std::uint64_t sp;
  std::int32_t flags;
  std::int32_t padding;
  std::uint64_t size;
};

struct KernelContext {
  std::uint64_t flags;
  std::uint64_t link;
  KernelStack stack;
  std::uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
  std::uint64_t rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip;
  std::uint64_t eflags;
  std::uint16_t cs, gs, fs, ss;
  std::uint64_t error, trap, old_mask, fault;
  std::uint64_t vectors;  // address
  std::uint64_t reserved[8];
  std::uint64_t signal_mask;
};
static_assert(offsetof(KernelContext, r8) == 40);
static_assert(offsetof(KernelContext, signal_mask) == 296);

struct KernelFrame {
  std::uint64_t return_address;
  KernelContext context;
  std::uint8_t signal[128];  // siginfo, which nobody reads
};

// The kernel keeps these facts in the part of the legacy area that the processor leaves to
// software.
struct VectorFacts {
  std::uint32_t magic1;
  std::uint32_t bytes_with_end;
  std::uint64_t features;
  std::uint32_t bytes;
  std::uint32_t padding[7];
};
constexpr std::size_t kFactsAt = 464;
constexpr std::size_t kPresentAt = 512;  // XSTATE_BV
constexpr std::size_t kLegacyBytes = 576;
// In the standard form, AMX's tiles begin here. A frame with them would be huge, and the kernel
// accepts them only from threads that have asked for them.
constexpr std::size_t kBeforeTiles = 2752;
constexpr std::uint64_t kTiles = 3ULL << 17;

// Returns the vectors in the form of a frame; empty if the kernel is to leave the vectors alone.
std::vector<std::uint8_t> WithFacts(std::vector<std::uint8_t> vectors) {
  if (vectors.size() < kLegacyBytes) return {};
  if (vectors.size() > kBeforeTiles) vectors.resize(kBeforeTiles);
  std::uint64_t features = 0;
  std::memcpy(&features, &vectors[kFactsAt], sizeof(features));  // ptrace puts them here
  features &= ~kTiles;
  std::uint64_t present = 0;
  std::memcpy(&present, &vectors[kPresentAt], sizeof(present));
  present &= features;
  std::memcpy(&vectors[kPresentAt], &present, sizeof(present));
  const auto bytes = static_cast<std::uint32_t>(vectors.size());
  const VectorFacts facts{kMagic1, bytes + 4, features, bytes, {}};
  std::memcpy(&vectors[kFactsAt], &facts, sizeof(facts));
  vectors.resize(bytes + 4);
  std::memcpy(&vectors[bytes], &kMagic2, sizeof(kMagic2));
  return vectors;
}

bool IsToBeginAgain(const RegisterSet& registers) {
  if (static_cast<long long>(registers.orig_rax) < 0) return false;
  for (const long long result : kRestart) {
    if (static_cast<long long>(registers.rax) == -result) return true;
  }
  return false;
}

// The kernel does not restart a system call when it takes a thread's registers from a frame. So the
// thread is put in front of the instruction.
RegisterSet BeforeCall(RegisterSet registers) {
  constexpr int kCallBytes = 2;
  if (!IsToBeginAgain(registers)) return registers;
  registers.rax = registers.orig_rax;
  registers.rip -= kCallBytes;
  return registers;
}

KernelContext ContextOf(const RegisterSet& r) {
  KernelContext context{};
  context.flags = kHasStackSegment | kStrictSegment;
  context.stack.flags = kKeepAlternateStack;
  context.r8 = r.r8;
  context.r9 = r.r9;
  context.r10 = r.r10;
  context.r11 = r.r11;
  context.r12 = r.r12;
  context.r13 = r.r13;
  context.r14 = r.r14;
  context.r15 = r.r15;
  context.rdi = r.rdi;
  context.rsi = r.rsi;
  context.rbp = r.rbp;
  context.rbx = r.rbx;
  context.rdx = r.rdx;
  context.rax = r.rax;
  context.rcx = r.rcx;
  context.rsp = r.rsp;
  context.rip = r.rip;
  context.eflags = r.eflags;
  context.cs = static_cast<std::uint16_t>(r.cs);
  context.ss = static_cast<std::uint16_t>(r.ss);
  return context;
}

constexpr std::uint64_t kDirectionFlag = 1U << 10;
constexpr std::uint64_t kTrapFlag = 1U << 8;

constexpr std::uint64_t AlignDown(std::uint64_t value, std::uint64_t to) {
  return value & ~(to - 1);
}

}  // namespace

SignalFrame MakeSignalFrame(const HeldState& state, std::uint64_t top, std::uint64_t restorer) {
  const std::vector<std::uint8_t> vectors = WithFacts(state.vectors);
  const std::uint64_t vectors_at = AlignDown(top - vectors.size(), 64);
  SignalFrame frame;
  frame.address = AlignDown(vectors_at - sizeof(KernelFrame), 16) - 8;  // as after a call
  frame.returned_at = frame.address + sizeof(std::uint64_t);

  KernelFrame kernel_frame{
      .return_address = restorer, .context = ContextOf(BeforeCall(state.registers)), .signal = {}};
  kernel_frame.context.signal_mask = state.blocked_signals;
  if (!vectors.empty()) {
    kernel_frame.context.flags |= kHasVectors;
    kernel_frame.context.vectors = vectors_at;
  }
  frame.bytes.resize(vectors_at - frame.address + vectors.size());
  std::memcpy(frame.bytes.data(), &kernel_frame, sizeof(kernel_frame));
  if (!vectors.empty()) {
    std::memcpy(&frame.bytes[vectors_at - frame.address], vectors.data(), vectors.size());
  }
  return frame;
}

std::uint64_t FreeStackBelow(const RegisterSet& registers) { return registers.rsp - kRedZoneBytes; }

RegisterSet LeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                        std::uint64_t restorer) {
  RegisterSet leaving = registers;
  leaving.orig_rax = static_cast<std::uint64_t>(-1);
  leaving.rip = restorer;
  leaving.rsp = frame.returned_at;
  leaving.eflags &= ~(kDirectionFlag | kTrapFlag);
  return leaving;
}

RegisterSet EnteringCall(const RegisterSet& registers, const SignalFrame& frame,
                         std::uint64_t restorer, const FunctionCall& call) {
  RegisterSet entering = LeavingCall(registers, frame, restorer);
  entering.rip = call.function;
  entering.rsp = frame.address;  // the return address is there
  entering.rdi = call.arguments[0];
  entering.rsi = call.arguments[1];
  entering.rdx = call.arguments[2];
  entering.rcx = call.arguments[3];
  entering.r8 = call.arguments[4];
  entering.r9 = call.arguments[5];
  entering.rax = 0;
  entering.rbp = 0;
  return entering;
}

bool IsLeavingCall(const RegisterSet& registers, const SignalFrame& frame, std::uint64_t restorer) {
  return registers.orig_rax == SYS_rt_sigreturn &&
         registers.rip == restorer + RestorerCode().size() && registers.rsp == frame.returned_at;
}

}  // namespace leakgate
