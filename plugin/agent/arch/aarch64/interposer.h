// LEAKGATE_CALLER() for interposed functions: compilers set up x29 only if the frame is asked for,
// and then in the instruction that saves the return address anyway.
#pragma once

#include "plugin/agent/arch/caller_frame.h"

#define LEAKGATE_CALLER LEAKGATE_CALLER_FRAME
