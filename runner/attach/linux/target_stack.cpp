#include "runner/attach/linux/target_stack.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include "runner/base/linux/proc_place.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

constexpr std::size_t kMostFrames = 2048;

// Opens the file that the process sees: it may have another root.
int FindFile(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** path,
             Elf** elf) {
  const auto* const memory = static_cast<const TargetMemory*>(*data);
  const std::string inside = fmt::format("/proc/{}/root{}", memory->pid(), name);
  if (name[0] == '/' && StatPlaceOf(inside)) {
    auto file = OpenRegularFile(inside);
    return file ? file->Release() : -1;
  }
  return ::dwfl_linux_proc_find_elf(module, data, name, base, path, elf);
}

// .eh_frame is enough. Other debug information is not searched for, least of all by network.
int FindNoDebugFile(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*,
                    GElf_Word, char**) {
  return -1;
}

}  // namespace

struct StackUnwinder::Callbacks {
  static StackUnwinder& Self(void* argument) { return *static_cast<StackUnwinder*>(argument); }

  // Sets what FindFile is given.
  static int NameProcess(Dwfl_Module*, void** data, const char*, Dwarf_Addr, void* argument) {
    *data = const_cast<TargetMemory*>(&Self(argument).memory_);
    return DWARF_CB_OK;
  }

  // Reads the tables now, so that nothing is read from files while a thread is stopped.
  static int ReadUnwindTables(Dwfl_Module* module, void**, const char*, Dwarf_Addr, void*) {
    Dwarf_Addr bias = 0;
    (void)::dwfl_module_eh_cfi(module, &bias);
    return DWARF_CB_OK;
  }

  static pid_t NextThread(Dwfl*, void* argument, void** thread) {
    if (*thread != nullptr) return 0;
    *thread = argument;
    return Self(argument).memory_.pid();
  }

  static bool GetThread(Dwfl*, pid_t, void* argument, void** thread) {
    *thread = argument;
    return true;
  }

  static bool ReadMemory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
    if (!Self(argument).memory_.Read(address, word, sizeof(*word))) return false;
    *word = WithoutSignature(*word);
    return true;
  }

  static bool SetRegisters(Dwfl_Thread* thread, void* argument) {
    return SetUnwinderRegisters(thread, Self(argument).registers_);
  }

  static int TakeFrame(Dwfl_Frame* frame, void* argument) {
    auto& stack = *static_cast<TargetStack*>(argument);
    Dwarf_Addr pc = 0;
    bool is_interrupted = false;
    if (!::dwfl_frame_pc(frame, &pc, &is_interrupted)) return DWARF_CB_ABORT;
    stack.frames.push_back({pc, is_interrupted});
    return stack.frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
  }
};

Expected<std::unique_ptr<StackUnwinder>> StackUnwinder::Create(const TargetMemory& memory) {
  static constexpr Dwfl_Callbacks kFiles = {.find_elf = FindFile,
                                            .find_debuginfo = FindNoDebugFile,
                                            .section_address = nullptr,
                                            .debuginfo_path = nullptr};
  static constexpr Dwfl_Thread_Callbacks kThreads = {
      .next_thread = Callbacks::NextThread,
      .get_thread = Callbacks::GetThread,
      .memory_read = Callbacks::ReadMemory,
      .set_initial_registers = Callbacks::SetRegisters,
      .detach = nullptr,
      .thread_detach = nullptr};
  std::unique_ptr<StackUnwinder> unwinder(new StackUnwinder(memory));
  unwinder->dwfl_ = ::dwfl_begin(&kFiles);
  const bool is_ready =
      unwinder->dwfl_ != nullptr && ::dwfl_linux_proc_report(unwinder->dwfl_, memory.pid()) == 0 &&
      ::dwfl_report_end(unwinder->dwfl_, nullptr, nullptr) == 0 &&
      ::dwfl_getmodules(unwinder->dwfl_, Callbacks::NameProcess, unwinder.get(), 0) == 0 &&
      ::dwfl_getmodules(unwinder->dwfl_, Callbacks::ReadUnwindTables, nullptr, 0) == 0 &&
      ::dwfl_attach_state(unwinder->dwfl_, nullptr, memory.pid(), &kThreads, unwinder.get());
  if (!is_ready) {
    return InconclusiveError(
        fmt::format("cannot read what PID {} has loaded: {}", memory.pid(), ::dwfl_errmsg(-1)));
  }
  return unwinder;
}

StackUnwinder::~StackUnwinder() {
  if (dwfl_ != nullptr) ::dwfl_end(dwfl_);
}

TargetStack StackUnwinder::Unwind(const RegisterSet& registers) {
  registers_ = registers;
  TargetStack stack;
  const int result = ::dwfl_getthread_frames(dwfl_, memory_.pid(), Callbacks::TakeFrame, &stack);
  stack.is_complete = result == 0;
  return stack;
}

}  // namespace leakgate
