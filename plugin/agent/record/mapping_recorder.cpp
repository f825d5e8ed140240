#include "plugin/agent/record/mapping_recorder.h"

#include "common/system.h"
#include "plugin/agent/arch/processor.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/record/pooled_memory.h"
#include "plugin/agent/windows/windows.h"

#include LEAKGATE_ARCH(memory)
#include LEAKGATE_AGENT(monotonic_time)
#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

// Writes the event if a recording wants it. The range consists of whole pages.
void NoteEvent(Recording recording, OtherEvent event, std::uint64_t value, AddressRange range) {
  if (!RecordsEvents()) return;
  NoteOther(EventThreadOf(recording.thread()), event, value, {range.begin, range.bytes()});
}

std::uint64_t ValueOf(const MappingOrigin& origin, MappingNature nature) {
  return (std::uint64_t{nature.protection == 0} << kReservedBit) |
         (static_cast<std::uint64_t>(nature.kind) << kStackBits) | origin.stack;
}

}  // namespace

bool RecordsMappings(std::uint64_t caller_pc) {
  return IsTracing() && !IsForeignAllocators(caller_pc) && CanRecord();
}

// Wraps where the kernel will refuse anyway: then the range is empty.
AddressRange PagesOf(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const std::uint64_t end = (begin + bytes + PageBytes() - 1) & ~(PageBytes() - 1);
  if (begin % PageBytes() != 0 || end < begin) return {};
  return {begin, end};
}

bool OriginAt(Recording recording, const CallerFrame& caller, MappingOrigin& origin) {
  origin.context = ContextNow(recording);
  if (origin.context == 0) return false;
  origin.stack = StackAt(recording, caller);
  origin.time_ns = MonotonicTime();
  return true;
}

MappingNature NatureAt(const void* address) {
  constexpr MappingNature kNotKnown{AllocationKind::kMappedShared, kMayRead | kMayWrite};
  const RecordingGuard guard;
  SettleWindows(guard);
  return g_mappings.NatureAt(reinterpret_cast<std::uint64_t>(address)).value_or(kNotKnown);
}

AddressRange PieceAt(const void* address) {
  const auto begin = reinterpret_cast<std::uint64_t>(address);
  const RecordingGuard guard;
  SettleWindows(guard);
  return {begin, g_mappings.EndOfPieceAt(begin).value_or(begin)};
}

void BeforeMapping() {
  const RecordingGuard guard;
  SettleWindows(guard);
}

void AfterMapping(AddressRange range, MappingNature nature, const CallerFrame& caller) {
  if (!CanRecord()) return;
  const RecordingGuard guard;
  MappingOrigin origin{};
  if (!OriginAt(guard, caller, origin)) return;
  NoteEvent(guard, OtherEvent::kMap, ValueOf(origin, nature), range);
  g_mappings.Add(range, origin, nature);
}

TakenMappings BeforeUnmapping(AddressRange range) {
  const RecordingGuard guard;
  SettleWindows(guard);
  if (HasPooled()) FreePooledIn(guard, range.begin, range.end);
  const TakenMappings taken = g_mappings.Take(range);
  // This comes before the kernel's work: another thread may map something there next.
  if (!taken.empty()) NoteEvent(guard, OtherEvent::kUnmap, 0, range);
  return taken;
}

void AfterUnmapping(TakenMappings taken) {
  if (taken.empty() || !CanRecord()) return;
  const RecordingGuard guard;
  g_mappings.Forget(taken);
}

void UnmappingFailed(TakenMappings taken) {
  if (taken.empty() || !CanRecord()) return;
  const RecordingGuard guard;
  g_mappings.PutBack(taken, IsMapped);
}

void AfterMoving(TakenMappings taken, AddressRange from, AddressRange to,
                 const CallerFrame& caller) {
  if (!CanRecord()) return;
  const RecordingGuard guard;
  g_mappings.Move(taken, from.begin, to);
  MappingOrigin origin{};
  if (to.bytes() <= from.bytes() && !RecordsEvents()) return;
  if (!OriginAt(guard, caller, origin)) return;
  constexpr MappingNature kUsable{AllocationKind::kMapped, kMayRead | kMayWrite};
  NoteEvent(guard, OtherEvent::kMap,
            ValueOf(origin, g_mappings.NatureAt(to.begin).value_or(kUsable)), to);
  if (to.bytes() <= from.bytes()) return;
  g_mappings.Grow({to.begin + from.bytes(), to.end}, origin);
}

void AfterProtecting(AddressRange range, unsigned protection, const CallerFrame& caller) {
  if (range.begin >= range.end) return;
  const RecordingGuard guard;
  SettleWindows(guard);
  const auto bits = static_cast<std::uint8_t>(protection & (kMayRead | kMayWrite | kMayExecute));
  if (bits == 0) {
    NoteEvent(guard, OtherEvent::kDecommit, 0, range);
    return g_mappings.Decommit(range);
  }
  if (!g_mappings.HasReserved(range)) return;
  MappingOrigin origin{};
  if (!OriginAt(guard, caller, origin)) return;
  NoteEvent(guard, OtherEvent::kCommit, origin.stack, range);
  g_mappings.Commit(range, origin, bits);
}

}  // namespace leakgate::agent
