// What leakgate's other headers ask of the system: the agent in this process, and variables. Users'
// code does not need this.
//
// On Windows, the functions that find the agent are declared as <windows.h> does, which has too
// many other names for code that includes this.
#ifndef LEAKGATE_SYSTEM_H_
#define LEAKGATE_SYSTEM_H_

#if defined(_WIN32)
struct HINSTANCE__;
extern "C" __declspec(dllimport) HINSTANCE__* __stdcall GetModuleHandleA(const char* name);
extern "C" __declspec(dllimport) long long(__stdcall* __stdcall GetProcAddress(HINSTANCE__* module,
                                                                               const char* name))();
#else
#include <dlfcn.h>
#endif

#include <cstdlib>
#include <cstring>

#include "leakgate/agent.h"

namespace leakgate {
namespace internal {

// Returns null if there is none, if this process is not traced, or if the agent is older than
// `version`.
inline const LeakgateAgent* FindAgent(unsigned version) {
#if defined(_WIN32)
  HINSTANCE__* const library = GetModuleHandleA("leakgate_agent64.dll");
  if (library == nullptr) return nullptr;
  const auto symbol = GetProcAddress(library, LEAKGATE_AGENT_SYMBOL);
#else
  void* const symbol = dlsym(RTLD_DEFAULT, LEAKGATE_AGENT_SYMBOL);
#endif
  if (symbol == nullptr) return nullptr;
  LeakgateAgentFunction find = nullptr;
  std::memcpy(&find, &symbol, sizeof(find));
  return find(version);
}

// Microsoft's headers warn of it, since another thread may change the variable.
#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(push)
#pragma warning(disable : 4996)
#elif defined(_MSC_VER)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif
inline const char* Variable(const char* name) { return std::getenv(name); }
#if defined(_MSC_VER) && !defined(__clang__)
#pragma warning(pop)
#elif defined(_MSC_VER)
#pragma clang diagnostic pop
#endif

#if defined(_WIN32)
inline void AnnounceEnd() {
  const LeakgateAgent* const agent = FindAgent(LEAKGATE_AGENT_WITH_END);
  if (agent != nullptr) agent->announce_end();
}
#endif

// Makes this the last moment at which the agent looks at what static objects hold: exit handlers
// that are registered later, and destructors of objects that are built later, still run before it.
// Elsewhere than on Windows, the agent sees the program's end by itself.
inline void AnnounceEndAtExit() {
#if defined(_WIN32)
  std::atexit(AnnounceEnd);
#endif
}

// Removes a variable from the environment.
inline void Unset(const char* name) {
#if defined(_WIN32)
  _putenv_s(name, "");
#else
  unsetenv(name);
#endif
}

}  // namespace internal
}  // namespace leakgate

#endif  // LEAKGATE_SYSTEM_H_
