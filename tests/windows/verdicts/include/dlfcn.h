// For fixtures that load a library of theirs: POSIX's functions by Windows' own.
#pragma once
#include <windows.h>

#define RTLD_NOW 0

// "$ORIGIN/libNAME.so" is NAME.dll beside the program, where Windows looks first.
#define dlopen(path, flags) LoadLibraryA(LibraryName(path).c_str())
#define dlsym(library, name) \
  reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name))
#define dlclose(library) FreeLibrary(static_cast<HMODULE>(library))
#define dlerror() GetLastError()

#include <string>

inline std::string LibraryName(const std::string& path) {
  const std::size_t begin = path.rfind("/lib") + 4;
  return path.substr(begin, path.rfind('.') - begin) + ".dll";
}
