// The functions of C that the compiler and the core call. The agent needs no C runtime: it is
// initialised before all of them, and they allocate.
#include <cstddef>

extern "C" {

void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* at = to;
  asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
  return to;
}

void* memset(void* to, int value, std::size_t bytes) {
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
  return to;
}

void* memmove(void* to, const void* from, std::size_t bytes) {
  auto* const target = static_cast<volatile char*>(to);
  const auto* const source = static_cast<const volatile char*>(from);
  if (target <= source) {
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
  } else {
    for (std::size_t i = bytes; i > 0; --i) target[i - 1] = source[i - 1];
  }
  return to;
}

int memcmp(const void* a, const void* b, std::size_t bytes) {
  const auto* const left = static_cast<const volatile unsigned char*>(a);
  const auto* const right = static_cast<const volatile unsigned char*>(b);
  for (std::size_t i = 0; i < bytes; ++i) {
    const int difference = left[i] - right[i];
    if (difference != 0) return difference;
  }
  return 0;
}

std::size_t strlen(const char* text) {
  const volatile char* end = text;
  while (*end != '\0') ++end;
  return static_cast<std::size_t>(end - text);
}

}  // extern "C"
