// The host's functions: those that the agent's own stand in front of, and forward to. Each system
// has its own.
#pragma once

#include "common/system.h"

#if defined(_WIN32)
#include "plugin/agent/host/nt/host_functions.h"
#else
#include "plugin/agent/host/linux/host_functions.h"
#endif
