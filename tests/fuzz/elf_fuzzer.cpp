// Any bytes as a program's file: what is told of it before it runs, and the functions,
// lines and variables that its addresses are. Damaged debug information tells less.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "runner/process/image_inspection.h"
#include "runner/symbols/symbolizer.h"
#include "runner/symbols/variables.h"

namespace {

using namespace leakgate;

const std::filesystem::path& File() {
  static const std::filesystem::path path =
      "/dev/shm/leakgate-elf-fuzz-" + std::to_string(::getpid());
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::ofstream(File(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  (void)InspectImage(File());
  Symbolizer symbolizer;
  const Module module{
      .begin = 0x1000, .end = 0x100'0000, .bias = 0, .path = File(), .build_id = {}};
  Variables variables;
  for (std::uint64_t pc = 0x1000; pc < 0x1400; pc += 0x20) {
    if (symbolizer.Symbolize(module, pc).empty()) __builtin_trap();
  }
  for (std::uint64_t address = 0x3000; address < 0x4100; address += 8) {
    (void)variables.At(File(), address);
    (void)variables.ThreadLocalAt(File(), address - 0x3000);
  }
  return 0;
}
