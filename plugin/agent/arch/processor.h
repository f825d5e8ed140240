// The folder of the processor for which this is compiled: its headers are included by
//
//   #include LEAKGATE_ARCH(system_call)
//
// README.md says what each folder defines.
#pragma once

#if defined(__x86_64__)
#define LEAKGATE_ARCH(header) <plugin/agent/arch/x86_64/header.h>
#elif defined(__aarch64__)
#define LEAKGATE_ARCH(header) <plugin/agent/arch/aarch64/header.h>
#else
#error "leakgate's agent does not know this processor: plugin/agent/arch/ has no folder for it"
#endif
