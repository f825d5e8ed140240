// The user's own main; in one of the two binaries with leakgate's listener.
#include <gmock/gmock.h>

#ifdef WITH_LISTENER
#include <leakgate/listener.h>
#endif

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
#ifdef WITH_LISTENER
  leakgate::AppendListener();
#endif
  return RUN_ALL_TESTS();
}
