// How the program's calls of dlopen, dlmopen and dlsym go on. What they load may pass the agent by
// (redirected_calls.h): all modules where the agent was loaded late, else those that are opened
// with RTLD_DEEPBIND. And what dlsym finds may be the C library's own malloc.
//
// The dynamic linker looks at who calls: for the search path ($ORIGIN, RUNPATH) and for RTLD_NEXT.
// Where the caller may matter, the host's function is jumped to instead of called. What it has
// loaded is redirected where its first module is about to initialise itself, or, failing that, when
// one of the functions is called next, or at a test's boundary.
//
// None of this starts the agent: an allocator that begins calls dlsym.
#pragma once

namespace leakgate::agent {

// Each returns the function that is to be jumped to with the same arguments.
[[nodiscard]] void* ChooseDlopen(const char* file, int mode, void* caller);
[[nodiscard]] void* ChooseDlmopen(int mode);
[[nodiscard]] void* ChooseDlsym(void* module, const char* name);

// Redirects what has been loaded since, if modules may have been loaded unseen.
void RedirectPending();

}  // namespace leakgate::agent
