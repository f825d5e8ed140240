// The result of symbolizing an address: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runner/base/word_table.h"

namespace leakgate {

struct SourcePosition {
  std::string file;  // as debug information spells it, mostly absolute
  int line = 0;

  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// Whether the file of a module could be found.
enum class ModuleFileState {
  kFound,
  kMissing,    // there is no file that can be read
  kOtherFile,  // the file at its path is of another build
};

// Whether a function allocates for its callers (attribution/wrappers.h), and how that is known.
enum class Wrapper : std::uint8_t {
  kNo,
  kDeclared,    // a budget file or the command line says so
  kKnown,       // it is on the list that ships with leakgate
  kRecognised,  // it returns void*, and its code shows that it only returns what was allocated
};
template <>
struct WordTable<Wrapper> {
  static constexpr std::array kWords = {
      Named{Wrapper::kNo, "no"}, Named{Wrapper::kDeclared, "declared"},
      Named{Wrapper::kKnown, "known"}, Named{Wrapper::kRecognised, "recognised"}};
};

// One frame of a call stack as a person reads it. An address yields several frames if functions
// were inlined there: the innermost comes first, and all but the last have `inlined` set.
struct Frame {
  std::string function;             // demangled; empty if unknown
  std::string file;                 // absolute where debug information says so; empty if unknown
  int line = 0;                     // 0 if unknown
  std::string module;               // path of the mapped file; empty if in none
  std::uint64_t module_offset = 0;  // address in the file, for "module+0x1234"
  bool inlined = false;
  // The exported function that the call instruction here calls, through the caller's PLT or GOT;
  // empty if it cannot be found out.
  std::string called_function;
  bool calls_through_pointer = false;  // as a call of a virtual function does
  Wrapper wrapper = Wrapper::kNo;

  friend bool operator==(const Frame&, const Frame&) = default;
};

}  // namespace leakgate
