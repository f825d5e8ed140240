// A library for plugin_test.cpp.
#include <cstdlib>

static void* volatile lost = nullptr;

extern "C" void Leak() {
  lost = std::malloc(321);  // lost in a plugin
  lost = nullptr;
}
