// The loading of modules, and the search in them.
#include "plugin/agent/interpose/interpose.h"
#include "plugin/agent/start/module_loading.h"

#include LEAKGATE_ARCH(chosen_jump)

using namespace leakgate::agent;

extern "C" {

LEAKGATE_INTERNAL void* leakgate_choose_dlopen(const char* file, int mode, long, long, long, long,
                                               void* caller) {
  return ChooseDlopen(file, mode, caller);
}

LEAKGATE_INTERNAL void* leakgate_choose_dlmopen(long, const char*, int mode) {
  return ChooseDlmopen(mode);
}

LEAKGATE_INTERNAL void* leakgate_choose_dlsym(void* module, const char* name) {
  return ChooseDlsym(module, name);
}
}

// A module's first instructions call this function if it is defined (crti.o). It is meant for
// profiling. So calls are redirected before the module's initialisers make any.
LEAKGATE_EXPORT void __gmon_start__() { RedirectPending(); }

LEAKGATE_CHOSEN_JUMP(dlopen, leakgate_choose_dlopen);
LEAKGATE_CHOSEN_JUMP(dlmopen, leakgate_choose_dlmopen);
LEAKGATE_CHOSEN_JUMP(dlsym, leakgate_choose_dlsym);
