#include "plugin/agent/hook/nt/process_hooks.h"

#include <windows.h>

#include "common/nt_child_notes.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/hook/nt/import_slots.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/monotonic_time.h"

namespace leakgate::agent {
namespace {

constinit SlotChange g_makers[2] = {};  // CreateProcessA, CreateProcessW

// Each writes the command line to `to`, and returns its length, or kUnknown if that is above
// `room`.
std::uint32_t CopyLine(const wchar_t* line, wchar_t* to, std::uint32_t room) {
  const int length = ::lstrlenW(line);
  if (length > static_cast<int>(room)) return NtChildNote::kUnknown;
  __builtin_memcpy(to, line, static_cast<std::size_t>(length) * sizeof(wchar_t));
  return static_cast<std::uint32_t>(length);
}

std::uint32_t CopyLine(const char* line, wchar_t* to, std::uint32_t room) {
  const int length = ::lstrlenA(line);
  const int copied = ::MultiByteToWideChar(CP_ACP, 0, line, length, to, static_cast<int>(room));
  return copied == 0 && length != 0 ? NtChildNote::kUnknown : static_cast<std::uint32_t>(copied);
}

template <typename Letter>
void NoteChild(const PROCESS_INFORMATION& made, const Letter* line, std::uint64_t called_ns) {
  auto& notes = *reinterpret_cast<NtChildNotes*>(g_region.base + kNtChildNotesOffset);
  const std::uint32_t before = notes.count.fetch_add(1, std::memory_order_relaxed);
  NtChildNote& note = notes.notes[before % NtChildNotes::kMost];
  note.number.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  auto* const text = reinterpret_cast<wchar_t*>(note.text);
  DWORD length = NtChildNote::kLetters;
  FILETIME began;
  FILETIME unused;
  if (::QueryFullProcessImageNameW(made.hProcess, 0, text, &length) == 0 ||
      ::GetProcessTimes(made.hProcess, &began, &unused, &unused, &unused) == 0) {
    return;
  }
  note.pid = static_cast<std::int32_t>(made.dwProcessId);
  note.began = std::uint64_t{began.dwHighDateTime} << 32 | began.dwLowDateTime;
  note.called_ns = called_ns;
  note.returned_ns = MonotonicTime();
  note.image_length = length;
  note.command_length =
      line == nullptr ? 0 : CopyLine(line, text + length, NtChildNote::kLetters - length);
  note.number.store(before + 1, std::memory_order_release);
}

template <std::size_t kIndex, typename Letter, typename StartUp>
BOOL WINAPI HookedCreateProcess(const Letter* program, Letter* line,
                                SECURITY_ATTRIBUTES* of_process, SECURITY_ATTRIBUTES* of_thread,
                                BOOL inherits, DWORD flags, void* environment, const Letter* folder,
                                StartUp* start, PROCESS_INFORMATION* made) {
  const auto create = reinterpret_cast<decltype(&HookedCreateProcess<kIndex, Letter, StartUp>)>(
      g_makers[kIndex].from);
  const std::uint64_t called_ns = MonotonicTime();
  const BOOL is_made = create(program, line, of_process, of_thread, inherits, flags, environment,
                              folder, start, made);
  if (is_made != 0 && IsTracing()) {
    const LastErrorKeeper keeper;
    NoteChild(*made, line, called_ns);
  }
  return is_made;
}

std::uint64_t FindMaker(const char* name) {
  const HMODULE library = ::GetModuleHandleW(L"kernelbase.dll");
  return library == nullptr ? 0 : reinterpret_cast<std::uint64_t>(::GetProcAddress(library, name));
}

}  // namespace

void InstallProcessHooks(std::uint64_t agent) {
  g_makers[0] = {FindMaker("CreateProcessA"),
                 reinterpret_cast<std::uint64_t>(&HookedCreateProcess<0, char, STARTUPINFOA>)};
  g_makers[1] = {FindMaker("CreateProcessW"),
                 reinterpret_cast<std::uint64_t>(&HookedCreateProcess<1, wchar_t, STARTUPINFOW>)};
  ChangeAllImportSlots(agent, g_makers, 2);
}

}  // namespace leakgate::agent
