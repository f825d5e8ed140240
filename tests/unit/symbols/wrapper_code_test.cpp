// Which functions are recognised by their code as allocation wrappers.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

constexpr char kWrappersSource[] = R"(
#include <cstdlib>
struct Owner { long a, b; void* kept; };
long g_total; void* g_last; void* g_table[16];
extern "C" {
__attribute__((noinline)) void Use(void*) { asm volatile("" ::: "memory"); }

void* Checks(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); return p; }
void* Counts(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); g_total += n; return p; }
void* Writes(size_t n) { auto p = static_cast<size_t*>(malloc(n)); if (p == nullptr) abort(); *p = n; return p; }
void* ByNew(size_t n) { void* p = ::operator new(n); g_total += 1; return p; }

void* Keeps(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); g_last = p; return p; }
void* KeepsByIndex(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); g_table[n & 15] = p; return p; }
void* KeepsInOwner(Owner* owner, size_t n, long a, long b) {
  void* p = malloc(n);
  if (p == nullptr) abort();
  owner->a = a; owner->b = b; owner->kept = p;
  return p;
}
void* HandsOn(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); Use(p); return p; }
void* Shifts(size_t n) { auto p = static_cast<char*>(malloc(n)); if (p == nullptr) abort(); return p + 16; }
void* ReturnsAnother(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); *static_cast<char*>(p) = 1; return &g_total; }
void* Sometimes(size_t n) { void* p = malloc(n); if (p == nullptr) abort(); if (g_total > 7) return nullptr; return p; }
void* ThroughItsAddress(size_t n) {
  void* p = malloc(n);
  if (p == nullptr) abort();
  void** address = &p;
  asm volatile("" : "+r"(address) :: "memory");
  return *address;
}
char* IsTyped(size_t n) { auto p = static_cast<char*>(malloc(n)); if (p == nullptr) abort(); *p = 0; return p; }
}
)";

// Finds where the first call in the function of the library returns to.
std::uint64_t FirstReturnAddress(const CompiledLibrary& library, const char* name) {
  constexpr std::uint8_t kCall = 0xE8;
  constexpr int kCallBytes = 5;
  void* const handle = dlopen(library.file().c_str(), RTLD_NOW | RTLD_NOLOAD);
  const auto begin = reinterpret_cast<std::uint64_t>(dlsym(handle, name));
  dlclose(handle);
  const Module module = ModuleOf(begin);
  for (std::uint64_t at = begin; at < begin + 128; ++at) {
    if (*reinterpret_cast<const std::uint8_t*>(at) != kCall) continue;
    std::int32_t offset = 0;
    std::memcpy(&offset, reinterpret_cast<const void*>(at + 1), sizeof(offset));
    const std::uint64_t target = at + kCallBytes + static_cast<std::uint64_t>(std::int64_t{offset});
    if (target >= module.begin && target < module.end) return at + kCallBytes;
  }
  return 0;
}

class WrapperCodeFlagsTest : public testing::TestWithParam<const char*> {};

TEST_P(WrapperCodeFlagsTest, IsOfAFunctionThatOnlyReturnsWhatWasAllocated) {
  const CompiledLibrary library(kWrappersSource, std::string("-g ") + GetParam());
  const std::map<const char*, bool> functions = {
      {"Checks", true},          {"Counts", true},     {"Writes", true},
      {"ByNew", true},           {"Keeps", false},     {"KeepsByIndex", false},
      {"KeepsInOwner", false},   {"HandsOn", false},   {"Shifts", false},
      {"ReturnsAnother", false}, {"Sometimes", false}, {"ThroughItsAddress", false},
      {"IsTyped", false}};
  for (const auto& [name, is_wrapper] : functions) {
    const std::uint64_t pc = FirstReturnAddress(library, name);
    ASSERT_NE(pc, 0U) << name;
    const Frame frame = Symbolizer().Symbolize(ModuleOf(pc), pc).back();
    EXPECT_FALSE(frame.called_function.empty()) << name;
    EXPECT_EQ(frame.wrapper, is_wrapper ? Wrapper::kRecognised : Wrapper::kNo) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Flags, WrapperCodeFlagsTest,
                         testing::Values("-O0", "-O1", "-O2", "-O3", "-Os",
                                         "-O2 -fno-omit-frame-pointer",
                                         "-O2 -fcf-protection=full"));

TEST(WrapperCodeTest, IsNotKnownWithoutTheFunctionsType) {
  const CompiledLibrary library(kWrappersSource, "-O2");
  const std::uint64_t pc = FirstReturnAddress(library, "Checks");
  EXPECT_EQ(Symbolizer().Symbolize(ModuleOf(pc), pc).back().wrapper, Wrapper::kNo);
}

}  // namespace
}  // namespace leakgate
