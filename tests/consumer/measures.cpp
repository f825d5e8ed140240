#include <iostream>

#include "leakgate/allowance.h"
#include "leakgate/snapshot.h"
#include "leakgate/window.h"

// The compiler must not remove the allocation.
static int* volatile made = nullptr;

int main() {
  leakgate::Window window("make one");
  made = new int(7);
  const leakgate::Measurement measurement = window.End();
  delete made;
  std::cout << (measurement.is_measured ? "measured: " : "not measured: ") << measurement << '\n';
}
