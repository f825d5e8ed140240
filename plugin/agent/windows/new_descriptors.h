// Finds out whether a suite has left a descriptor open, by one system call that opens and reads
// nothing.
//
// The kernel gives out the lowest free numbers. So some of the free numbers are remembered, and
// poll(2) shows whether each is still free:
//
//   open 0 1 2 5, free numbers kept 3 4 6 7 ..    a suite opens 3 and 4, closes 3: 4 is new
//
// A descriptor that is put at another number on purpose (dup2) is not seen.
#pragma once

namespace leakgate::agent {

// Makes the free numbers be found again when the next test begins.
void ForgetFreeDescriptors();

// Finds the free numbers, unless they are known. Called when a test begins.
void NoteFreeDescriptors();

// Returns true if one of them is open. Called at a suite's end.
[[nodiscard]] bool HasNewDescriptors();

}  // namespace leakgate::agent
