// The slots through which modules call the functions that the agent interposes. If the agent was
// loaded into a running process, the dynamic linker has already filled them. So they are
// overwritten, and restored later.
//
//   module's code:  call malloc@plt -> jmp *slot        slot = libc's malloc
//   redirected:                                         slot = the agent's, which calls libc's
//
// A slot is changed only if it holds the very function to which the agent forwards. So a module
// that calls another malloc keeps it. A slot that the dynamic linker has not resolved yet is set to
// the agent's function. If another thread resolves it at that moment, the next redirecting finds
// it.
//
// If the agent was loaded first, calls lead to it by themselves, except for modules that are opened
// with RTLD_DEEPBIND: these search the C library before the agent.
//
// Slots are written while other threads call through them. Each is one aligned word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leakgate::agent {

struct Redirection {
  enum class Family : std::uint8_t { kAllocation, kOther };

  const char* name;
  void* ours;
  void* host = nullptr;  // nullptr if no module defines it
  Family family = Family::kAllocation;
  // Whether slots that are not resolved yet are resolved to `ours`.
  bool resolves = true;
};

// Modules by their position in the order of loading: from `first` on, before `end`.
struct ModuleRange {
  std::uint32_t first = 0;
  std::uint32_t end = UINT32_MAX;

  bool Has(std::uint32_t place) const { return place >= first && place < end; }
};

// How many functions can be redirected at once.
inline constexpr std::size_t kMostRedirections = 255;

enum class Redirect { kToAgent, kToHost };

struct RedirectedSlots {
  std::uint32_t changed = 0;
  std::uint32_t unresolved = 0;    // of those: how many had not been resolved
  std::uint32_t not_writable = 0;  // left as they are
  bool skipped_modules = false;    // some modules are being loaded at the moment
};

// Redirects the slots of the modules in `range`, except the agent and the dynamic linker.
RedirectedSlots RedirectSlots(std::span<const Redirection> functions, Redirect to,
                              ModuleRange range = {});

// Fills in each missing `host`: the first definition, except for the agent's own, in the order of
// loading, in which the dynamic linker searches.
void FindHosts(std::span<Redirection> functions, ModuleRange range = {});

// Returns the same for one function, `name`.
[[nodiscard]] void* FindHost(const char* name, ModuleRange range = {});

// Clears `resolves` of each function that a module defines besides the agent and the one that
// defines its host: then it is unknown here which of them a module would find first.
void ResolveOnlyWhereSure(std::span<Redirection> functions);

// Returns how many modules have been loaded so far, including those that have been unloaded since.
[[nodiscard]] std::uint64_t CountOfLoads();

}  // namespace leakgate::agent
