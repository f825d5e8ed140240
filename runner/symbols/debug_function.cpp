#include "runner/symbols/debug_function.h"

#include <algorithm>
#include <array>

#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

std::string FunctionName(const DebugFunction& function, const std::string& symbol) {
  if (!function.name.empty() && !symbol.starts_with("_Z")) return function.name;
  const std::string name = Demangle(function.linkage_name.empty() ? symbol : function.linkage_name);
  // The demangler does not support all names of C++.
  return name.starts_with("_Z") && !function.name.empty() ? function.name : name;
}

}  // namespace

std::vector<Frame> FramesOf(const std::vector<DebugFunction>& functions, std::string_view symbol) {
  std::vector<Frame> frames;
  if (functions.empty()) frames.emplace_back().function = Demangle(std::string(symbol));
  for (const DebugFunction& function : functions) {
    Frame& frame = frames.emplace_back();
    frame.inlined = frames.size() < functions.size();
    frame.function = FunctionName(function, std::string(frame.inlined ? "" : symbol));
    frame.file = function.position.file;
    frame.line = function.position.line;
  }
  return frames;
}

bool ReturnsBlock(std::string_view function) {
  // As the linkers of Linux, of mingw-w64 and of MSVC spell them.
  constexpr std::array<std::string_view, 25> kAllocators = {"malloc",
                                                            "calloc",
                                                            "realloc",
                                                            "reallocarray",
                                                            "aligned_alloc",
                                                            "memalign",
                                                            "valloc",
                                                            "pvalloc",
                                                            "_Znwm",
                                                            "_Znam",
                                                            "_ZnwmRKSt9nothrow_t",
                                                            "_ZnamRKSt9nothrow_t",
                                                            "_ZnwmSt11align_val_t",
                                                            "_ZnamSt11align_val_t",
                                                            "_Znwy",
                                                            "_Znay",
                                                            "_ZnwyRKSt9nothrow_t",
                                                            "_ZnayRKSt9nothrow_t",
                                                            "_ZnwySt11align_val_t",
                                                            "_ZnaySt11align_val_t",
                                                            "_aligned_malloc",
                                                            "HeapAlloc",
                                                            "RtlAllocateHeap",
                                                            "??2@YAPEAX_K@Z",
                                                            "??_U@YAPEAX_K@Z"};
  return std::find(kAllocators.begin(), kAllocators.end(), function) != kAllocators.end();
}

}  // namespace leakgate
