// A library of the self-test, under two names: the program imports one, and loads the other later.
// It leaves a block when it is initialised, and another when it is called.
#include <cstdlib>

#include "common/nt_self_test.h"

namespace {

void* volatile g_kept;

struct AtInitialisation {
  AtInitialisation() { g_kept = std::malloc(leakgate::self_test::kInitialiserBytes); }
} g_at_initialisation;

}  // namespace

extern "C" __declspec(dllexport) void leakgate_self_test_leave() {
  g_kept = std::malloc(leakgate::self_test::SizeOf(0));
}
