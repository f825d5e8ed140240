// The folders of the operating system for which this is compiled: headers in them are included by
//
//   #include LEAKGATE_COMMON(region_limits)
//
// They are for what each system defines in its own way and has to be inline or constant.
#pragma once

// GNU dialects define the name of the system as 1.
#undef linux

#if defined(_WIN32)
#define LEAKGATE_COMMON(header) <common/nt/header.h>
#define LEAKGATE_AGENT(header) <plugin/agent/nt/header.h>
#else
#define LEAKGATE_COMMON(header) <common/linux/header.h>
#define LEAKGATE_AGENT(header) <plugin/agent/linux/header.h>
#endif
