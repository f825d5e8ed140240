// Gives memory back to the kernel that the runner has freed, between two steps that need much.
#pragma once

namespace leakgate {

// Takes some milliseconds for each GiB. Any thread may call it.
void GiveBackFreeMemory();

}  // namespace leakgate
