// AddressIn(word): the address that a word leads to if the program uses it as a pointer. Programs
// keep tags in the bits that the processor ignores.
//
// PointerGuardAt(thread_pointer): the address of the word with which glibc mangles what setjmp
// keeps (PTR_MANGLE). It is the same in all threads. UnmangledPointer(word, guard): the address in
// a word that setjmp has kept.
#pragma once

#if defined(__x86_64__)
#include "runner/arch/x86_64/pointer.h"
#elif defined(__aarch64__)
#include "runner/arch/aarch64/pointer.h"
#else
#error "leakgate does not know this processor: runner/arch/ has no folder for it"
#endif
