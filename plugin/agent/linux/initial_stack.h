// The environment as the kernel has passed it. It can be read before the C library has set up its
// own, which an early allocation may precede.
#pragma once

namespace leakgate::agent {

// Returns the value of the variable `name`, or nullptr.
const char* InitialEnvironment(const char* name);

}  // namespace leakgate::agent
