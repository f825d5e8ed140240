// The loading of modules, for an agent that was itself loaded into a running process:
// what comes later calls the C library's malloc, so its calls are redirected, too.
//
// The dynamic linker looks at who calls dlopen and dlsym: for the search path ($ORIGIN,
// RUNPATH), for RTLD_NEXT. Where that may matter they are jumped to, not called, and what
// has been loaded is redirected when one of them is called next.
//
// Not exported: only redirected slots lead here.
#pragma once

#include <dlfcn.h>

namespace leakgate::agent {

void* LateDlopen(const char* file, int mode);
void* LateDlmopen(Lmid_t space, const char* file, int mode);
void* LateDlsym(void* module, const char* name);

}  // namespace leakgate::agent
