// What the other unwinders have differently for each processor.
#pragma once

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#define LEAKGATE_TEXT_OF(name) #name
#define LEAKGATE_TEXT(name) LEAKGATE_TEXT_OF(name)  // the name that a macro of libunwind's makes

namespace leakgate::check {

#if defined(__x86_64__)

using ContextGetter = decltype(&unw_tdep_getcontext);
inline constexpr bool kHasContextGetter = true;
inline constexpr char kContextGetter[] = LEAKGATE_TEXT(unw_tdep_getcontext);

template <typename Library>
__attribute__((always_inline)) inline void GetContext(const Library& library,
                                                      unw_context_t* context) {
  library.getcontext(context);
}

// mov $__NR_rt_sigreturn, %rax; syscall
inline constexpr unsigned char kTrampoline[] = {0x48, 0xC7, 0xC0, 0x0F, 0x00,
                                                0x00, 0x00, 0x0F, 0x05};

#elif defined(__aarch64__)

// libunwind's header has it as code.
using ContextGetter = void*;
inline constexpr bool kHasContextGetter = false;
inline constexpr char kContextGetter[] = "";

template <typename Library>
__attribute__((always_inline)) inline void GetContext(const Library&, unw_context_t* context) {
  unw_tdep_getcontext(context);
}

// mov x8, #__NR_rt_sigreturn; svc #0
inline constexpr unsigned char kTrampoline[] = {0x68, 0x11, 0x80, 0xD2, 0x01, 0x00, 0x00, 0xD4};

#endif

}  // namespace leakgate::check
