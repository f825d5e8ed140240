// A line of a source file. A plain value.
#pragma once

#include <cstdint>
#include <string>

namespace leakgate {

struct SourcePosition {
  std::string file;  // as debug information has it, mostly absolute
  int line = 0;

  friend bool operator==(const SourcePosition&, const SourcePosition&) = default;
};

// Whether the file of a module could be had. A plain value.

// What is known of a module's file.
enum class ModuleFileState {
  kFound,
  kMissing,    // nowhere, or no file that can be read
  kOtherFile,  // at its path there is another build
};

// One symbolised frame of a call stack. A plain value.

// One frame as a person reads it. One address yields several when functions
// were inlined there: the innermost first, `inlined` on all but the last.
struct Frame {
  std::string function;             // demangled; empty if unknown
  std::string file;                 // absolute where debug information says so; empty if unknown
  int line = 0;                     // 0 if unknown
  std::string module;               // path of the mapped file; empty if in none
  std::uint64_t module_offset = 0;  // address in the file's own terms, for "module+0x1234"
  bool inlined = false;
  std::string called_function;  // the exported function that the call instruction at this address
                                // goes to, by the caller's PLT or GOT; empty if not direct
  bool calls_through_pointer = false;  // the call goes where data says: a virtual function, say

  friend bool operator==(const Frame&, const Frame&) = default;
};

}  // namespace leakgate
