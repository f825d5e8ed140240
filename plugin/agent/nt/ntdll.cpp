#include "plugin/agent/nt/ntdll.h"

#include <windows.h>

namespace leakgate::agent {

constinit Ntdll g_ntdll{};

namespace {

template <typename Function>
bool Find(HMODULE library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
  return function != nullptr;
}

}  // namespace

bool FindNtdll() {
  const HMODULE library = ::GetModuleHandleW(L"ntdll.dll");
  (void)Find(library, "NtAllocateVirtualMemoryEx", g_ntdll.allocate_memory_ex);
  (void)Find(library, "NtMapViewOfSectionEx", g_ntdll.map_view_ex);
  (void)Find(library, "NtUnmapViewOfSectionEx", g_ntdll.unmap_view_ex);
  return library != nullptr && Find(library, "RtlAllocateHeap", g_ntdll.allocate) &&
         Find(library, "RtlReAllocateHeap", g_ntdll.reallocate) &&
         Find(library, "RtlFreeHeap", g_ntdll.free) &&
         Find(library, "RtlCreateHeap", g_ntdll.create) &&
         Find(library, "RtlDestroyHeap", g_ntdll.destroy) &&
         Find(library, "RtlLockHeap", g_ntdll.lock) &&
         Find(library, "RtlUnlockHeap", g_ntdll.unlock) &&
         Find(library, "NtTerminateThread", g_ntdll.end_thread) &&
         Find(library, "NtAllocateVirtualMemory", g_ntdll.allocate_memory) &&
         Find(library, "NtFreeVirtualMemory", g_ntdll.free_memory) &&
         Find(library, "NtMapViewOfSection", g_ntdll.map_view) &&
         Find(library, "NtUnmapViewOfSection", g_ntdll.unmap_view) &&
         Find(library, "NtQuerySection", g_ntdll.query_section) &&
         Find(library, "RtlDosPathNameToNtPathName_U", g_ntdll.find_system_path) &&
         Find(library, "RtlFreeUnicodeString", g_ntdll.free_text) &&
         Find(library, "NtCreateFile", g_ntdll.create_file) &&
         Find(library, "NtWriteFile", g_ntdll.write_file) &&
         Find(library, "NtSetInformationFile", g_ntdll.set_file) &&
         Find(library, "NtClose", g_ntdll.close) &&
         Find(library, "RtlDllShutdownInProgress", g_ntdll.is_shutting_down) &&
         Find(library, "LdrRegisterDllNotification", g_ntdll.notify_of_libraries);
}

}  // namespace leakgate::agent
