#include "library.h"

#include <cstdlib>

#include "lose.h"

void LeakInLibrary() {
  Lose(std::malloc(103));  // LEAK: library
}
