// Any bytes as a program's file: what is told of it before it runs, and the functions,
// lines and variables that its addresses are. Damaged debug information tells less.
#include <cstdint>
#include <filesystem>

#include "runner/process/image_inspection.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace leakgate;
  const std::filesystem::path& file = fuzz::WriteInputFile(bytes, size);
  (void)InspectImage(file);
  Symbolizer symbolizer;
  const Module module{.begin = 0x1000, .end = 0x100'0000, .bias = 0, .path = file, .build_id = {}};
  Variables variables;
  for (std::uint64_t pc = 0x1000; pc < 0x1400; pc += 0x20) {
    if (symbolizer.Symbolize(module, pc).empty()) __builtin_trap();
  }
  for (std::uint64_t address = 0x3000; address < 0x4100; address += 8) {
    (void)variables.At(file, address);
    (void)variables.ThreadLocalAt(file, address - 0x3000);
  }
  return 0;
}
