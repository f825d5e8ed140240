// The slots through which modules call what the agent stands in for. Where the agent was
// loaded into a running process the dynamic linker has filled them already, so they are
// written over, and put back later.
//
//   module's code:  call malloc@plt -> jmp *slot        slot = libc's malloc
//   redirected:                                         slot = the agent's, which calls libc's
//
// By value: only a slot that holds the very function which the agent calls in turn is
// changed, so a module that calls another malloc keeps it. A slot that the dynamic linker
// has not resolved yet is resolved to the agent's; if it is resolved at that moment by
// another thread, the next redirecting finds it.
//
// Slots are written while other threads call through them: each is one aligned word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leakgate::agent {

struct Redirection {
  enum class Family : std::uint8_t { kAllocation, kOther };

  const char* name;
  void* ours;
  void* host = nullptr;  // nullptr: nobody defines it
  Family family = Family::kAllocation;
};

// At most so many functions at a time.
inline constexpr std::size_t kMostRedirections = 255;

enum class Redirect { kToAgent, kToHost };

struct RedirectedSlots {
  std::uint32_t changed = 0;
  std::uint32_t unresolved = 0;    // of those
  std::uint32_t not_writable = 0;  // left as they are
  bool skipped_modules = false;    // some are being loaded just now
};

// In all modules but the agent and the dynamic linker.
RedirectedSlots RedirectSlots(std::span<const Redirection> functions, Redirect to);

// Fills in what is missing of `host`: the first definition in the order of loading, which
// is that of the search, but for the agent's own.
void FindHosts(std::span<Redirection> functions);

// The one of `name` alone.
[[nodiscard]] void* FindHost(const char* name);

}  // namespace leakgate::agent
