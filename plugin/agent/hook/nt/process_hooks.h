// Notes for the runner what the program starts (common/nt_child_notes.h), by hooks on
// CreateProcessA and CreateProcessW of kernelbase. Those of kernel32, and WinExec, go by kernel32's
// import slots to these. What starts processes otherwise is not noted: CreateProcessAsUser, the
// system's services, and libraries that are loaded later and import kernelbase's functions
// themselves.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// REQUIRES: the library list and the region are there; no other thread runs.
void InstallProcessHooks(std::uint64_t agent);

}  // namespace leakgate::agent
