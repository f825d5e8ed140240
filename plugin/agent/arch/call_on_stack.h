// Calls a function on another stack. An unwinder finds the way back to the caller's own.
#pragma once

namespace leakgate::agent {

// Calls `function(argument)` on the stack that ends at `stack_end`, which is aligned as the
// processor's calls need it. Signals must be blocked: if no stack pointer is on a signal stack, the
// kernel considers it unused, and would begin the next handler on top of this one.
extern "C" __attribute__((visibility("hidden"))) void leakgate_call_on_stack(
    void* stack_end, void (*function)(void*), void* argument);

}  // namespace leakgate::agent
