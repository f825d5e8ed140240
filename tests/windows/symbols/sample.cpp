// A library whose call stack and variables symbols_test.cpp names. Each line matters: the test
// knows their numbers.
#include <windows.h>

namespace net {

int g_connections[4] = {1, 2, 3, 4};

struct Pool {
  template <typename T>
  __attribute__((noinline)) USHORT Grow(T most, void** frames);
};

inline __attribute__((always_inline)) USHORT CaptureInlined(ULONG most, void** frames) {
  const USHORT count = ::RtlCaptureStackBackTrace(0, most, frames, nullptr);  // line 15
  ++g_connections[0];
  return count;
}

template <typename T>
USHORT Pool::Grow(T most, void** frames) {
  const USHORT count = CaptureInlined(static_cast<ULONG>(most), frames);  // line 22
  return static_cast<USHORT>(count + g_connections[1] - 2);
}

namespace {
__attribute__((noinline)) USHORT Hidden(ULONG most, void** frames) {
  Pool pool;
  const USHORT count = pool.Grow<unsigned long>(most, frames);  // line 29
  return static_cast<USHORT>(count + g_connections[2] - 3);
}
}  // namespace

}  // namespace net

extern "C" __declspec(dllexport) USHORT CaptureStack(ULONG most, void** frames) {
  const auto capture = [&](int more) __attribute__((noinline)) {
    const USHORT count = net::Hidden(most, frames);  // line 38
    return static_cast<USHORT>(count + more + net::g_connections[3] - 4);
  };
  return capture(0);  // line 41
}
extern "C" __declspec(dllexport) void* AddressOfConnections() { return &net::g_connections[2]; }
