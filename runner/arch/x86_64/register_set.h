// The general registers as ptrace tells them.
#pragma once

#include <sys/user.h>

namespace leakgate {

using RegisterSet = user_regs_struct;

}  // namespace leakgate
