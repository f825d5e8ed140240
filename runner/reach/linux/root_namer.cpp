#include "runner/reach/linux/root_namer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "runner/arch/thread_area.h"

namespace leakgate {
namespace {

std::string VariableText(const Variable& variable) {
  if (variable.position.file.empty()) return variable.name;
  return fmt::format("{} ({}:{})", variable.name, variable.position.file, variable.position.line);
}

}  // namespace

std::string RootNamer::ThreadText(int tid) const {
  const auto thread = std::find_if(threads_.begin(), threads_.end(),
                                   [tid](const FrozenThread& known) { return known.tid == tid; });
  if (thread == threads_.end() || thread->name.empty()) return fmt::format("thread {}", tid);
  return fmt::format("thread {} '{}'", tid, thread->name);
}

std::string RootNamer::GlobalText(const FileAddress& at) const {
  const std::optional<Variable> variable = variables_.At(at.path, at.address);
  if (variable) return VariableText(*variable);
  return fmt::format("a global of {} (+{:#x})", std::filesystem::path(at.path).filename().string(),
                     at.address);
}

// The program's own thread-locals are beside the thread pointer. Only the dynamic linker knows
// where those of a library are.
std::string RootNamer::ThreadLocalText(const FrozenThread& thread, std::uint64_t address) const {
  const std::string of_thread = fmt::format("a thread-local of {}", ThreadText(thread.tid));
  const MappedModule* const program = modules_.empty() ? nullptr : Program();
  if (program == nullptr) return of_thread;
  const std::uint64_t offset =
      address - ProgramLocalsAt(thread.thread_pointer, program->thread_local_bytes,
                                program->thread_local_alignment);
  if (offset >= program->thread_local_bytes) return of_thread;
  const std::optional<Variable> variable = variables_.ThreadLocalAt(program->path, offset);
  return variable ? fmt::format("{}, {}", VariableText(*variable), of_thread) : of_thread;
}

// Returns the program among the modules: the first one that has thread-locals and is no library.
// The first module of all may be the dynamic linker, if that was started by hand. A wrong answer
// costs only a name.
const MappedModule* RootNamer::Program() const {
  const auto program =
      std::find_if(modules_.begin(), modules_.end(), [](const MappedModule& module) {
        return module.thread_local_bytes != 0 && module.path.find(".so") == std::string::npos;
      });
  return program != modules_.end() ? &*program : nullptr;
}

std::string RootNamer::MappingText(std::uint64_t address) const {
  const MappedRange* const range = FindRange(maps_, address);
  if (range == nullptr) return "memory that is gone";
  if (range->name.empty()) {
    return fmt::format("an anonymous mapping ({:#x}-{:#x})", range->begin, range->end);
  }
  return fmt::format("a mapping of {}", range->name);
}

std::string RootNamer::NameOf(const RootPlace& place) const {
  if (place.kernel_object != 0) return objects_[place.kernel_object - 1].name;
  if (place.address == 0) return fmt::format("a register of {}", ThreadText(place.tid));
  for (const FrozenThread& thread : threads_) {
    if (thread.tid != place.tid) continue;
    if (ThreadLocalsOf(thread, modules_).Has(place.address)) {
      return ThreadLocalText(thread, place.address);
    }
    const bool is_stack = FindRange(maps_, place.address) == FindRange(maps_, thread.stack_pointer);
    if (is_stack) return fmt::format("the stack of {}", ThreadText(place.tid));
    return fmt::format("a block being reallocated by {}", ThreadText(place.tid));
  }
  const std::optional<FileAddress> global = GlobalAt(place);
  if (global) return GlobalText(*global);
  return MappingText(place.address);
}

std::optional<FileAddress> RootNamer::GlobalAt(const RootPlace& place) const {
  for (const MappedModule& module : modules_) {
    if (module.Has(place.address)) return FileAddress{module.path, place.address - module.bias};
  }
  return std::nullopt;
}

}  // namespace leakgate
