#include "plugin/agent/start/operator_probe.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>

#include "common/operator_probe.h"
#include "plugin/agent/host/host_functions.h"
#include "plugin/agent/windows/mailbox.h"

namespace leakgate::agent {
namespace {

constexpr std::size_t kSizes[] = {1, 40, 200, 3000};
constexpr std::size_t kAlignment = 64;
constexpr std::uint32_t kKeptOfSize = 3;
constexpr std::uint32_t kMostProbed = std::size(kSizes) * (kKeptOfSize + 1) * kOperatorFormCount;

// The agent's own memory is no root, so these notes hold no block.
constinit ProbedObject g_probed[kMostProbed] = {};
constinit std::uint32_t g_probed_count = 0;

void* Allocate(void* function, const OperatorForm& form, std::size_t bytes) {
  const std::nothrow_t nothrow{};  // the runtime's own is not linked
  if (form.is_aligned && form.is_nothrow) {
    return reinterpret_cast<void* (*)(std::size_t, std::size_t, const std::nothrow_t&)>(function)(
        bytes, kAlignment, nothrow);
  }
  if (form.is_aligned) {
    return reinterpret_cast<void* (*)(std::size_t, std::size_t)>(function)(bytes, kAlignment);
  }
  if (form.is_nothrow) {
    return reinterpret_cast<void* (*)(std::size_t, const std::nothrow_t&)>(function)(bytes,
                                                                                     nothrow);
  }
  return reinterpret_cast<void* (*)(std::size_t)>(function)(bytes);
}

void Release(void* function, const OperatorForm& form, void* object) {
  if (form.is_aligned) {
    reinterpret_cast<void (*)(void*, std::size_t)>(function)(object, kAlignment);
  } else {
    reinterpret_cast<void (*)(void*)>(function)(object);
  }
}

__attribute__((noinline)) void Probe(std::uint32_t number, std::uint32_t is_deleted) {
  const OperatorForm& form = kOperatorForms[number];
  void* const allocate = g_host.dlsym(RTLD_DEFAULT, form.allocate);
  void* const release = g_host.dlsym(RTLD_DEFAULT, form.release);
  if (allocate == nullptr || release == nullptr) return;
  for (const std::size_t bytes : kSizes) {
    void* const object = Allocate(allocate, form, bytes);
    if (object == nullptr) continue;
    if (is_deleted != 0) Release(release, form, object);
    g_probed[g_probed_count++] = {reinterpret_cast<std::uintptr_t>(object) ^ ProbedObject::kMask,
                                  number, is_deleted};
  }
}

}  // namespace

// The objects that are deleted come last: their memory is not used again, and by then registers do
// not hold pointers to the kept objects any more.
void ProbeOperators() {
  for (std::uint32_t i = 0; i < kKeptOfSize; ++i) {
    for (std::uint32_t form = 0; form < kOperatorFormCount; ++form) Probe(form, 0);
  }
  for (std::uint32_t form = 0; form < kOperatorFormCount; ++form) Probe(form, 1);
  SendProbedOperators(g_probed, g_probed_count);
}

}  // namespace leakgate::agent
