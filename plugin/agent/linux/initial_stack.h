// The environment as the kernel handed it over: readable before the C library
// has set up its own, which an early allocation may precede.
#pragma once

namespace leakgate::agent {

// The value of `name`, or nullptr.
const char* InitialEnvironment(const char* name);

}  // namespace leakgate::agent
