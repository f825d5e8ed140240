// GoogleTest's main with leakgate's listener, so that users need not change their code.
#include <gtest/gtest.h>

#include "leakgate/listener.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  leakgate::AppendListener();
  return RUN_ALL_TESTS();
}
