#include "runner/reach/nt/root_namer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace leakgate {

std::string RootNamer::ThreadText(int tid) const {
  const auto thread = std::find_if(threads_.begin(), threads_.end(),
                                   [tid](const StoppedThread& known) { return known.tid == tid; });
  if (thread == threads_.end() || thread->name.empty()) return fmt::format("thread {}", tid);
  return fmt::format("thread {} '{}'", tid, thread->name);
}

std::string RootNamer::GlobalText(const FileAddress& at) const {
  const std::optional<Variable> variable = variables_.At(at.path, at.address);
  if (!variable) {
    return fmt::format("a global of {} (+{:#x})", at.path.substr(at.path.find_last_of("/\\") + 1),
                       at.address);
  }
  if (variable->position.file.empty()) return variable->name;
  return fmt::format("{} ({}:{})", variable->name, variable->position.file,
                     variable->position.line);
}

std::string RootNamer::MappingText(std::uint64_t address) const {
  const auto memory = std::find_if(memory_.begin(), memory_.end(), [&](const MemoryRange& range) {
    return range.range.Has(address);
  });
  if (memory == memory_.end()) return "memory that is gone";
  return fmt::format("{} ({:#x}-{:#x})",
                     memory->kind == MemoryKind::kMapped ? "a mapped section"
                                                         : "memory of VirtualAlloc or the system",
                     memory->range.begin, memory->range.end);
}

NamedRoot RootNamer::NameOf(const RootPlace& place) const {
  if (place.kernel_object != 0) return {objects_[place.kernel_object - 1]};
  if (place.address == 0) return {fmt::format("a register of {}", ThreadText(place.tid))};
  if (place.tid != 0) return {fmt::format("the stack of {}", ThreadText(place.tid))};
  for (const ImageModule& module : modules_) {
    if (!module.range.Has(place.address)) continue;
    const FileAddress at{module.path, place.address - module.range.begin};
    return {GlobalText(at), at};
  }
  if (is_heap_(place.address)) {
    return {"what may be freed memory, or a block that Windows has made for itself"};
  }
  return {MappingText(place.address)};
}

}  // namespace leakgate
