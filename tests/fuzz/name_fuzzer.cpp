// Any bytes as a linker symbol: it is spelt at no great length, and in little time (the fuzzer's
// own limits), and so are the shorter forms that people read.
#include <cstdint>
#include <string>

#include "runner/symbols/demangler.h"
#include "runner/symbols/name_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace leakgate;
  const std::string symbol = "_Z" + std::string(reinterpret_cast<const char*>(bytes), size);
  const std::string name = Demangle(symbol);
  if (name.size() > kMostDemangledBytes && name.size() > symbol.size()) __builtin_trap();
  (void)ReadableSignature(name);
  (void)ReadableName(name);
  return 0;
}
