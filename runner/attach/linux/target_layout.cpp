#include "runner/attach/linux/target_layout.h"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runner/arch/processor.h"

namespace leakgate {
namespace {

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool IsLibc(std::string_view name) {
  return name.starts_with("libc.so.6") || name.starts_with("libc-2.");
}
bool IsLinker(std::string_view name) {
  return name.starts_with(DynamicLinkerName()) || name.starts_with("ld-2.");
}
bool IsAgent(std::string_view name) { return name.starts_with("libleakgate_agent.so"); }

// Returns the first mapping of a file with such a name, where its ELF header is.
const MappedRange* FindFile(const std::vector<MappedRange>& maps, bool (*is_it)(std::string_view)) {
  const auto found = std::find_if(maps.begin(), maps.end(), [is_it](const MappedRange& range) {
    return range.file_offset == 0 && !range.IsAnonymous() && is_it(FileName(range.name));
  });
  return found == maps.end() ? nullptr : &*found;
}

std::optional<TargetModule> ReadFile(const TargetMemory& memory,
                                     const std::vector<MappedRange>& maps,
                                     bool (*is_it)(std::string_view)) {
  const MappedRange* const range = FindFile(maps, is_it);
  return range == nullptr ? std::nullopt : TargetModule::Read(memory, range->begin);
}

// Returns the address of the code to which a signal handler returns; 0 if it is not there.
std::uint64_t FindRestorer(const TargetMemory& memory, const TargetModule& libc,
                           const std::vector<MappedRange>& maps) {
  const std::span<const std::uint8_t> restorer = RestorerCode();
  for (const MappedRange& range : maps) {
    const bool may_have_it = IsRestorerOfKernel() ? range.name == "[vdso]" : libc.Has(range.begin);
    if (!range.is_executable || !may_have_it) continue;
    std::vector<std::uint8_t> code(range.end - range.begin);
    if (!memory.Read(range.begin, code.data(), code.size())) continue;
    const auto found = std::search(code.begin(), code.end(), restorer.begin(), restorer.end());
    if (found != code.end()) return range.begin + static_cast<std::uint64_t>(found - code.begin());
  }
  return 0;
}

// Returns how far a thread's errno is from its thread pointer.
std::optional<std::uint64_t> FindErrno(const TargetMemory& memory, const TargetModule& libc) {
  using Code = std::array<std::uint8_t, kErrnoCodeBytes>;
  const std::uint64_t function = libc.AddressOf("__errno_location");
  const auto code = function == 0 ? std::nullopt : memory.Get<Code>(function);
  const auto offset_at = code ? FindErrnoOffset(*code, function) : std::nullopt;
  return offset_at ? memory.Get<std::uint64_t>(*offset_at) : std::nullopt;
}

Error UnknownLibrary(int pid, std::string_view what) {
  return {
      fmt::format("PID {}: its C library has no {}; leakgate attaches to glibc 2.35 and later: "
                  "start the program with 'leakgate run'",
                  pid, what)};
}

}  // namespace

bool IsLoading(const TargetMemory& memory) {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(memory.pid());
  const auto linker = maps ? ReadFile(memory, *maps, IsLinker) : std::nullopt;
  const std::uint64_t state_at = linker ? linker->AddressOf("_r_debug") : 0;
  const auto state = state_at == 0 ? std::nullopt : memory.Get<r_debug>(state_at);
  return state && (state->r_version == 0 || state->r_state != r_debug::RT_CONSISTENT);
}

Expected<TargetLayout> TargetLayout::Read(const TargetMemory& memory) {
  return ReplaceErrorIfGone(memory, ReadLoaded(memory));
}

Expected<TargetLayout> TargetLayout::ReadLoaded(const TargetMemory& memory) {
  const int pid = memory.pid();
  LEAKGATE_TRY_ASSIGN(const std::vector<MappedRange> maps, ReadMaps(pid));
  TargetLayout layout;
  layout.maps_ = maps;
  layout.libc_ = ReadFile(memory, maps, IsLibc);
  layout.linker_ = ReadFile(memory, maps, IsLinker);
  layout.agent_ = ReadFile(memory, maps, IsAgent);
  if (!layout.libc_ || !layout.linker_) {
    return InconclusiveError(fmt::format(
        "PID {} has not loaded glibc; a program that is statically linked, or has another C "
        "library, or has only just begun, cannot be attached to",
        pid));
  }
  const TargetModule& libc = *layout.libc_;
  if (libc.AddressOf("_dl_find_object") == 0) {
    return Unexpected(UnknownLibrary(pid, "_dl_find_object"));
  }
  layout.dlopen_ = libc.AddressOf("dlopen");
  layout.library_.mmap = libc.AddressOf("mmap");
  layout.library_.munmap = libc.AddressOf("munmap");
  layout.library_.restorer = FindRestorer(memory, libc, maps);
  const std::optional<std::uint64_t> errno_offset = FindErrno(memory, libc);
  layout.library_.errno_offset = errno_offset.value_or(0);
  if (layout.dlopen_ == 0) return Unexpected(UnknownLibrary(pid, "dlopen"));
  if (layout.library_.mmap == 0 || layout.library_.munmap == 0) {
    return Unexpected(UnknownLibrary(pid, "mmap"));
  }
  if (layout.library_.restorer == 0) return Unexpected(UnknownLibrary(pid, "rt_sigreturn"));
  if (!errno_offset) return Unexpected(UnknownLibrary(pid, "errno"));
  if (layout.agent_) layout.attach_point_ = layout.agent_->AddressOf(kAttachSymbol);
  layout.FindAllocators(memory, maps);
  return layout;
}

void TargetLayout::FindAllocators(const TargetMemory& memory,
                                  const std::vector<MappedRange>& maps) {
  for (const MappedRange& range : maps) {
    if (range.file_offset != 0 || range.IsAnonymous()) continue;
    if (libc_->Has(range.begin) || linker_->Has(range.begin)) continue;
    if (agent_ && agent_->Has(range.begin)) continue;
    const auto module = TargetModule::Read(memory, range.begin, "malloc");
    if (module && module->AddressOf("malloc") != 0) allocators_.push_back(range.name);
  }
}

FrameOwner TargetLayout::OwnerOf(std::uint64_t address) const {
  if (libc_->Has(address)) return FrameOwner::kCLibrary;
  if (linker_->Has(address)) return FrameOwner::kDynamicLinker;
  if (agent_ && agent_->Has(address)) return FrameOwner::kAgent;
  const MappedRange* const range = FindRange(maps_, address);
  if (range == nullptr || !range->is_executable) return FrameOwner::kUnknown;
  if (range->IsAnonymous() && !range->name.starts_with("[v")) return FrameOwner::kUnknown;
  const bool is_allocator =
      std::find(allocators_.begin(), allocators_.end(), range->name) != allocators_.end();
  return is_allocator ? FrameOwner::kAllocator : FrameOwner::kProgram;
}

bool TargetLayout::StillHolds(const TargetMemory& memory) const {
  return memory.Get<std::uint32_t>(libc_->begin()).has_value();
}

std::optional<AttachPointCopy> ReadAttachPoint(const TargetMemory& memory, std::uint64_t address) {
  // It is read as bytes: the atomics and pointers in it are the other process's.
  std::array<std::uint8_t, sizeof(AttachPoint)> bytes{};
  if (address == 0 || !memory.Read(address, bytes.data(), bytes.size())) return std::nullopt;
  const auto at = [&bytes]<typename T>(std::size_t offset, T) {
    T value{};
    std::memcpy(&value, &bytes[offset], sizeof(value));
    return value;
  };
  if (at(offsetof(AttachPoint, magic), std::uint64_t{}) != kAttachMagic) return std::nullopt;
  AttachPointCopy copy;
  copy.layout_version = at(offsetof(AttachPoint, layout_version), std::uint32_t{});
  copy.state = static_cast<AttachState>(at(offsetof(AttachPoint, state), std::uint32_t{}));
  copy.outcome = static_cast<AttachOutcome>(at(offsetof(AttachPoint, outcome), std::uint32_t{}));
  copy.pid = at(offsetof(AttachPoint, pid), std::int32_t{});
  copy.runner_pid = at(offsetof(AttachPoint, runner_pid), std::int32_t{});
  copy.is_loaded_late = at(offsetof(AttachPoint, is_loaded_late), std::uint32_t{}) != 0;
  copy.slots_changed = at(offsetof(AttachPoint, slots_changed), std::int32_t{});
  copy.slots_unresolved = at(offsetof(AttachPoint, slots_unresolved), std::int32_t{});
  copy.enable = at(offsetof(AttachPoint, enable), std::uint64_t{});
  copy.redirect_again = at(offsetof(AttachPoint, redirect_again), std::uint64_t{});
  copy.disable = at(offsetof(AttachPoint, disable), std::uint64_t{});
  copy.release = at(offsetof(AttachPoint, release), std::uint64_t{});
  return copy;
}

}  // namespace leakgate
