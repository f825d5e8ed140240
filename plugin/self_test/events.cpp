// Maps memory in all ways, and makes more events than buffers have room for.
#include <windows.h>

#include <cstdlib>
#include <iterator>

#include "common/nt_self_test.h"
#include "plugin/self_test/self_test.h"

namespace leakgate::self_test {
namespace {

constexpr int kNotMapped = 20;

void* Allocate(void* at, std::uint64_t bytes, DWORD type) {
  return ::VirtualAlloc(at, bytes, type, PAGE_READWRITE);
}

void* Committed(std::uint64_t bytes) { return Allocate(nullptr, bytes, MEM_RESERVE | MEM_COMMIT); }

// A part of what was reserved before; the other part stays so, and has another size.
void* CommittedLater(std::uint64_t bytes) {
  return Allocate(Allocate(nullptr, bytes * 3, MEM_RESERVE), bytes, MEM_COMMIT);
}

HANDLE Section(HANDLE file, std::uint64_t bytes) {
  return ::CreateFileMappingW(file, nullptr, PAGE_READWRITE, 0, static_cast<DWORD>(bytes), nullptr);
}

void* View(HANDLE file, std::uint64_t bytes) {
  return ::MapViewOfFile(Section(file, bytes), FILE_MAP_WRITE, 0, 0, 0);
}

// Windows removes the file with the process.
HANDLE File() {
  wchar_t folder[MAX_PATH + 1];
  wchar_t path[MAX_PATH + 1];
  if (::GetTempPathW(MAX_PATH, folder) == 0) return INVALID_HANDLE_VALUE;
  if (::GetTempFileNameW(folder, L"lkg", 0, path) == 0) return INVALID_HANDLE_VALUE;
  return ::CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                       FILE_FLAG_DELETE_ON_CLOSE, nullptr);
}

template <typename Function>
Function* Newer(const char* name) {
  const HMODULE library = ::GetModuleHandleW(L"kernelbase.dll");
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(::GetProcAddress(library, name)));
}

bool MapNewer(std::uint64_t index) {
  const std::uint64_t bytes = MappedBytes(index);
  const char* const name = kMappedWays[index].function;
  if (index == 8) {
    const auto allocate =
        Newer<void * WINAPI(HANDLE, void*, SIZE_T, ULONG, ULONG, void*, ULONG)>(name);
    return allocate == nullptr || allocate(::GetCurrentProcess(), nullptr, bytes,
                                           MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE, nullptr, 0);
  }
  const auto map =
      Newer<void * WINAPI(HANDLE, HANDLE, void*, ULONG64, SIZE_T, ULONG, ULONG, void*, ULONG)>(
          name);
  return map == nullptr || map(Section(INVALID_HANDLE_VALUE, bytes), ::GetCurrentProcess(), nullptr,
                               0, 0, 0, PAGE_READWRITE, nullptr, 0);
}

bool Map(std::uint64_t index) {
  const std::uint64_t bytes = MappedBytes(index);
  switch (index) {
    case 0:
      return Committed(bytes) != nullptr;
    case 1:
      return Allocate(nullptr, bytes, MEM_RESERVE) != nullptr;
    case 2:
      return CommittedLater(bytes) != nullptr;
    case 3:
      return ::VirtualFree(Committed(bytes), bytes, MEM_DECOMMIT);
    case 4:
      return ::VirtualFree(Committed(bytes), 0, MEM_RELEASE);
    case 5:
      return View(INVALID_HANDLE_VALUE, bytes) != nullptr;
    case 6:
      return View(File(), bytes) != nullptr;
    case 7:
      return ::UnmapViewOfFile(View(INVALID_HANDLE_VALUE, bytes));
    default:
      return MapNewer(index);
  }
}

DWORD WINAPI AllocateAndFree(void*) {
  for (std::uint64_t i = 0; i < kEventPairs; ++i) {
    void* volatile block = std::malloc(kEventBytes);
    std::free(block);
  }
  return 0;
}

}  // namespace

int LeaveMappings() {
  for (std::uint64_t index = 0; index < std::size(kMappedWays); ++index) {
    if (!Map(index)) return kNotMapped + static_cast<int>(index);
  }
  return 0;
}

void MakeEvents() {
  HANDLE threads[kEventThreads];
  for (HANDLE& thread : threads) {
    thread = ::CreateThread(nullptr, 0, AllocateAndFree, nullptr, 0, nullptr);
  }
  ::WaitForMultipleObjects(kEventThreads, threads, TRUE, INFINITE);
}

}  // namespace leakgate::self_test
