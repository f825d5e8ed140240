// Where a module says how its frames are unwound, and what reads it: FrameSection and
// FrameRowReader. ELF modules have .eh_frame, PE modules .pdata.
#pragma once

#if defined(_WIN32)
#include "plugin/agent/unwind/pe/frame_section.h"
#else
#include "plugin/agent/unwind/elf/frame_row.h"
#endif
