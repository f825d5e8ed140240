#include "plugin/agent/thread_stack.h"

#include "plugin/agent/mapping_table.h"
#include "plugin/agent/monotonic_time.h"

namespace leakgate::agent {
namespace {

thread_local constinit std::uint32_t t_stack = 0;
thread_local constinit std::uint32_t t_span = 0;  // in which that was added

// As the C library will map it, without the guard; 0: the program provides it.
std::uint64_t BytesOfStack(const pthread_attr_t* attributes) {
  pthread_attr_t defaults;
  if (attributes == nullptr) {
    if (pthread_attr_init(&defaults) != 0) return 0;
    attributes = &defaults;
  }
  // Where none is set, the C library tells the address 0 less the size.
  void* begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(attributes, &begin, &bytes);
  const bool is_provided = reinterpret_cast<std::uint64_t>(begin) + bytes != 0;
  pthread_attr_getstacksize(attributes, &bytes);  // the default, where none is set
  if (attributes == &defaults) pthread_attr_destroy(&defaults);
  return is_provided ? 0 : bytes;
}

}  // namespace

std::uint32_t AddStackOf(Recording recording, const pthread_attr_t* attributes,
                         std::uint32_t stack) {
  const std::uint64_t bytes = BytesOfStack(attributes);
  if (bytes == 0) return 0;
  const std::uint32_t context = ContextNow(recording);
  if (context == 0) return 0;
  return g_mappings.AddStack(bytes, {stack, context, MonotonicTime()});
}

void ForgetStackOf(Recording, std::uint32_t mapping) {
  if (mapping != 0) g_mappings.ForgetStack(mapping);
}

// The C library's own record of the thread is on the last page of its stack.
void TakeStack(std::uint32_t mapping) {
  if (mapping == 0) return;
  constexpr std::uint64_t kPageBytes = 4096;
  const auto pointer = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  const std::uint64_t end = (pointer + kPageBytes) & ~(kPageBytes - 1);
  t_stack = mapping;
  t_span = g_span;
  MappingTable::PlaceStack(mapping, end - mapping_tree::RecordOf(mapping).bytes);
}

// The thread may have no state to record with.
void EndStack() {
  if (t_stack == 0 || t_span != g_span) return;
  const Activity before = t_thread.activity;
  t_thread.Become(Activity::kRecording);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  g_mappings.ForgetStack(t_stack);
  t_stack = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_thread.Become(before);
}

}  // namespace leakgate::agent
