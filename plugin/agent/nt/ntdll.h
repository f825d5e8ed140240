// Functions of ntdll that kernel32 does not have, by name. ntdll is in every process, and is never
// unloaded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leakgate::agent {

using Heap = void*;

struct Ntdll {
  // The functions that are hooked, as ntdll itself has them, whatever its export table says by now.
  void*(__stdcall* allocate)(Heap heap, unsigned long flags, std::size_t bytes);
  void*(__stdcall* reallocate)(Heap heap, unsigned long flags, void* block, std::size_t bytes);
  unsigned char(__stdcall* free)(Heap heap, unsigned long flags, void* block);
  Heap(__stdcall* create)(unsigned long flags, void* at, std::size_t reserved_bytes,
                          std::size_t committed_bytes, void* lock, void* parameters);
  Heap(__stdcall* destroy)(Heap heap);
  unsigned char(__stdcall* lock)(Heap heap);
  unsigned char(__stdcall* unlock)(Heap heap);
  long(__stdcall* end_thread)(void* thread, long status);
  unsigned char(__stdcall* is_shutting_down)();  // RtlDllShutdownInProgress
  // Memory of a process, as WDK documents these. The agent's own goes past their hooks, too.
  long(__stdcall* allocate_memory)(void* process, void** base, std::uint64_t zero_bits,
                                   std::size_t* bytes, unsigned long type,
                                   unsigned long protection);
  long(__stdcall* free_memory)(void* process, void** base, std::size_t* bytes, unsigned long type);
  long(__stdcall* map_view)(void* section, void* process, void** base, std::uint64_t zero_bits,
                            std::size_t committed, std::int64_t* offset, std::size_t* bytes,
                            unsigned inherits, unsigned long type, unsigned long protection);
  long(__stdcall* unmap_view)(void* process, void* base);
  long(__stdcall* query_section)(void* section, int what, void* facts, std::size_t bytes,
                                 std::size_t* written);
  // These are nullptr on a Windows that does not have them.
  long(__stdcall* allocate_memory_ex)(void* process, void** base, std::size_t* bytes,
                                      unsigned long type, unsigned long protection,
                                      void* parameters, unsigned long count);
  long(__stdcall* map_view_ex)(void* section, void* process, void** base, std::int64_t* offset,
                               std::size_t* bytes, unsigned long type, unsigned long protection,
                               void* parameters, unsigned long count);
  long(__stdcall* unmap_view_ex)(void* process, void* base, unsigned long flags);
  // Files (nt/new_file.h): RtlDosPathNameToNtPathName_U, RtlFreeUnicodeString, NtCreateFile,
  // NtWriteFile, NtSetInformationFile, NtClose. Texts are UNICODE_STRING.
  unsigned char(__stdcall* find_system_path)(const wchar_t* path, void* text, void* name,
                                             void* relative);
  void(__stdcall* free_text)(void* text);
  long(__stdcall* create_file)(void** file, unsigned long rights, void* place, void* done,
                               std::int64_t* bytes, unsigned long attributes, unsigned long shared,
                               unsigned long disposition, unsigned long options, void* more,
                               unsigned long more_bytes);
  long(__stdcall* write_file)(void* file, void* event, void* call, void* context, void* done,
                              const void* bytes, unsigned long count, std::int64_t* at, void* key);
  long(__stdcall* set_file)(void* file, void* done, void* facts, unsigned long bytes, int what);
  long(__stdcall* close)(void* handle);
  // LdrRegisterDllNotification, which Learn documents
  long(__stdcall* notify_of_libraries)(unsigned long flags, void* function, void* context,
                                       void** cookie);
};

extern Ntdll g_ntdll;

// Fills in g_ntdll. Returns false if a function is missing.
[[nodiscard]] bool FindNtdll();

}  // namespace leakgate::agent
