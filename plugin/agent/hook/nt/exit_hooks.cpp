#include "plugin/agent/hook/nt/exit_hooks.h"

#include <windows.h>

#include <cstddef>

#include "plugin/agent/hook/nt/import_slots.h"
#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/windows/windows.h"

namespace leakgate::agent {
namespace {

using Exit = void (*)(int status);

constexpr const wchar_t* kRuntimes[] = {L"ucrtbase.dll", L"ucrtbased.dll", L"msvcrt.dll"};
constexpr const char* kExits[] = {"exit", "_exit", "_Exit", "quick_exit"};  // `exit` is the first
constexpr std::size_t kRuntimeCount = sizeof(kRuntimes) / sizeof(kRuntimes[0]);
constexpr std::size_t kCount = kRuntimeCount * (sizeof(kExits) / sizeof(kExits[0]));

// By function, then by runtime; empty where a runtime has none, or is not there.
constinit SlotChange g_exits[kCount] = {};
constinit SlotChange g_exit_process = {};
// Set if the program imports `exit`: then whoever calls ExitProcess instead destroys no statics.
constinit bool g_program_has_exit = false;

template <std::size_t kIndex>
void HookedExit(int status) {
  if (IsTracing()) AnnounceProcessEnd();
  reinterpret_cast<Exit>(g_exits[kIndex].from)(status);
}

void __stdcall HookedExitProcess(unsigned status) {
  if (IsTracing() && g_program_has_exit) AnnounceProcessEnd();
  ::ExitProcess(status);
}

std::uint64_t FindFunction(const wchar_t* library, const char* name) {
  const HMODULE found = ::GetModuleHandleW(library);
  return found == nullptr ? 0 : reinterpret_cast<std::uint64_t>(::GetProcAddress(found, name));
}

template <std::size_t kIndex = 0>
void FindExits() {
  if constexpr (kIndex < kCount) {
    g_exits[kIndex] = {
        FindFunction(kRuntimes[kIndex % kRuntimeCount], kExits[kIndex / kRuntimeCount]),
        reinterpret_cast<std::uint64_t>(&HookedExit<kIndex>)};
    FindExits<kIndex + 1>();
  }
}

}  // namespace

void InstallExitHooks(std::uint64_t agent) {
  FindExits();
  g_exit_process = {FindFunction(L"kernel32.dll", "ExitProcess"),
                    reinterpret_cast<std::uint64_t>(&HookedExitProcess)};
  const auto program = reinterpret_cast<std::uint64_t>(::GetModuleHandleW(nullptr));
  g_program_has_exit = ChangeImportSlots(program, g_exits, kRuntimeCount) != 0;
  ChangeAllImportSlots(agent, g_exits, kCount);
  ChangeAllImportSlots(agent, &g_exit_process, 1);
}

}  // namespace leakgate::agent
