// Calls of functions of the program's that budget files name ("allocators"): they give out and take
// back blocks of pools. Such a function may call others of the same pool's. What it gives out is
// what the outermost one returns.
//
// Nothing here starts the agent, and where nothing is recorded, the functions are only called.
#include "plugin/agent/arch/named_exception.h"
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/record/pools.h"
#include "plugin/agent/start/named_calls.h"

#include LEAKGATE_ARCH(named_entry)

using namespace leakgate::agent;
using leakgate::EntryHooks;
using leakgate::NamedCall;
using leakgate::NamedCallSpec;

namespace {

constinit NamedCallPlace g_places[EntryHooks::kMostNamed] = {};

// The calls that allocate and have not returned yet, the innermost last; of many, the outermost. An
// exception takes away those that it leaves. One that was left by a jump is still there: the stack
// pointer tells.
struct OpenCalls {
  struct Call {
    const std::uint64_t* frame;
    std::uint64_t pool;
    bool is_inner;  // another call of the same pool's gives out the block
  };
  static constexpr std::uint32_t kMost = 8;
  std::uint32_t count;
  std::uint32_t more;  // for which there was no room
  Call calls[kMost];
};
constinit thread_local OpenCalls t_open{};

void LeaveInnermost() {
  if (t_open.more != 0) {
    --t_open.more;
  } else if (t_open.count != 0) {
    --t_open.count;
  }
}

void LeaveEnded(const std::uint64_t* frame) {
  // Frames of other stacks, such as a coroutine's, are further away.
  constexpr std::ptrdiff_t kMostStackWords = 1 << 20;
  while (t_open.count != 0) {
    const std::uint64_t* const open = t_open.calls[t_open.count - 1].frame;
    if (frame < open && open - frame < kMostStackWords) return;
    t_open.more = 0;
    --t_open.count;
  }
}

// Returns whether a call of the same pool's that has not ended gives out the block.
bool IsInner(std::uint64_t pool) {
  for (std::uint32_t i = 0; i < t_open.count; ++i) {
    if (t_open.calls[i].pool == pool) return true;
  }
  return false;
}

std::uint64_t ArgumentOf(const NamedCallFrame& call, std::uint8_t argument) {
  return argument == NamedCallSpec::kNone ? 0 : call.Argument(argument);
}

const void* BlockAt(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

// Wraps where no memory is so large: then nothing was given out.
std::size_t SizeOf(const NamedCallFrame& call, const NamedCallSpec& spec) {
  const std::uint64_t size = ArgumentOf(call, spec.size);
  return spec.count == NamedCallSpec::kNone ? size : size * call.Argument(spec.count);
}

std::uint64_t Begins(const NamedCallPlace& place, const NamedCallFrame& call,
                     const std::uint64_t* frame) {
  if (!IsTracing()) return 0;
  const NamedCallSpec& spec = place.spec;
  const std::uint64_t pool = ArgumentOf(call, spec.pool);
  LeaveEnded(frame);
  switch (spec.call) {
    case NamedCall::kFree:
      FreePooled(BlockAt(ArgumentOf(call, spec.block)));
      return 0;
    case NamedCall::kReset:
    case NamedCall::kDestroy:
      ResetPoolOf(pool, spec.call == NamedCall::kDestroy);
      return 0;
    case NamedCall::kReallocate:
      // Once it has returned, another thread may have the block.
      if (!IsInner(pool)) FreePooled(BlockAt(ArgumentOf(call, spec.block)));
      break;
    case NamedCall::kAllocate:
      break;
  }
  if (t_open.count == OpenCalls::kMost) {
    ++t_open.more;
  } else {
    t_open.calls[t_open.count] = {frame, pool, IsInner(pool)};
    ++t_open.count;
  }
  return 1;
}

void Ends(const NamedCallPlace& place, const NamedCallFrame& call, const std::uint64_t* frame,
          std::uint64_t result) {
  const NamedCallSpec& spec = place.spec;
  // Inner ones that are still there were left by a jump.
  while (t_open.count != 0 && t_open.calls[t_open.count - 1].frame < frame) {
    t_open.more = 0;
    --t_open.count;
  }
  const OpenCalls::Call own =
      t_open.count != 0 ? t_open.calls[t_open.count - 1] : OpenCalls::Call{};
  LeaveInnermost();
  if (own.frame != frame || own.is_inner || !IsTracing()) return;
  if (spec.result != NamedCallSpec::kNone) {
    const auto* const stored = reinterpret_cast<const std::uint64_t*>(call.Argument(spec.result));
    constexpr std::uint64_t kSuccess = 0;
    result = static_cast<std::uint32_t>(result) == kSuccess && stored != nullptr ? *stored : 0;
  }
  const std::size_t size = SizeOf(call, spec);
  const std::uint64_t pool = ArgumentOf(call, spec.pool);
  const CallerFrame caller = CallerOfNamed(frame);
  if (result == 0 && spec.call == NamedCall::kReallocate && size != 0) {
    result = ArgumentOf(call, spec.block);  // it is as it was; what it had is not known any more
  }
  AllocateInPoolOf(pool, BlockAt(result), size, caller);
}

}  // namespace

namespace leakgate::agent {

NamedCallPlace& MakeNamedCallPlace(std::uint32_t number, std::uint64_t moved,
                                   const NamedCallSpec& spec) {
  g_leave_named_call = LeaveInnermost;
  return g_places[number % EntryHooks::kMostNamed] = {moved, Begins, Ends, spec};
}

void* CodeThatCallsNamed() { return reinterpret_cast<void*>(&leakgate_call_named); }

}  // namespace leakgate::agent
