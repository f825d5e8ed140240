// Loaded by unwinding.cpp: called by another library that does not name it as
// needed, and with thread-local memory that is allocated when first used.
#include <cstdlib>

thread_local char g_room[4096];

extern "C" void DefinedElsewhere() {
  void* const block = std::malloc(10);
  asm volatile("" : : "r"(block) : "memory");
  std::free(block);
}

extern "C" void UseThreadLocal() { asm volatile("" : : "r"(&g_room[0]) : "memory"); }
