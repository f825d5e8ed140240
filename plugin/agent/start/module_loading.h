// How the program's calls of dlopen, dlmopen and dlsym continue. The modules that they load may
// bypass the agent (redirected_calls.h): all modules if the agent was loaded late, otherwise those
// that are opened with RTLD_DEEPBIND. And dlsym may find the C library's own malloc.
//
// The dynamic linker checks who calls: for the search path ($ORIGIN, RUNPATH) and for RTLD_NEXT. If
// the caller may matter, the host's function is jumped to instead of called. What it has loaded is
// redirected when its first module is about to initialise itself, or, if that fails, when one of
// the functions is called next, or at a test's boundary.
//
// None of this starts the agent, because an allocator that is just starting calls dlsym.
#pragma once

namespace leakgate::agent {

// Each returns the function to which to jump with the same arguments.
[[nodiscard]] void* ChooseDlopen(const char* file, int mode, void* caller);
[[nodiscard]] void* ChooseDlmopen(int mode);
[[nodiscard]] void* ChooseDlsym(void* module, const char* name);

// Redirects what has been loaded since, if modules may have been loaded without the agent seeing
// it.
void RedirectPending();

}  // namespace leakgate::agent
