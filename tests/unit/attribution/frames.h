// Makes frames in few words, for tests of attribution.
#pragma once

#include <string>

#include "runner/symbols/frame.h"

namespace leakgate {

// A function in the test program.
inline Frame In(const std::string& function) {
  Frame frame;
  frame.function = function;
  frame.module = "/src/build/net_test";
  return frame;
}

inline Frame At(const std::string& file, const std::string& function, int line = 0) {
  Frame frame = In(function);
  frame.file = file;
  frame.line = line;
  return frame;
}

// A function in the test program that calls an exported function.
inline Frame Calling(const std::string& function, const std::string& called) {
  Frame frame = In(function);
  frame.called_function = called;
  return frame;
}

// A function in the test program that calls through a pointer.
inline Frame CallingAPointer(const std::string& function) {
  Frame frame = In(function);
  frame.calls_through_pointer = true;
  return frame;
}

inline Frame Inlined(const std::string& function) {
  Frame frame = In(function);
  frame.inlined = true;
  return frame;
}

inline Frame InModule(const std::string& module, const std::string& function) {
  Frame frame = In(function);
  frame.module = module;
  return frame;
}

inline Frame InLibc(const std::string& function = "") {
  return InModule("/usr/lib/x86_64-linux-gnu/libc.so.6", function);
}

inline Frame InLoader(const std::string& function = "") {
  return InModule("/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", function);
}

inline Frame InLibstdcxx(const std::string& function = "") {
  return InModule("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", function);
}

inline Frame InLibcxxabi(const std::string& function = "") {
  return InModule("/usr/lib/x86_64-linux-gnu/libc++abi.so.1", function);
}

inline Frame InAgent() { return InModule("/opt/leakgate/libleakgate_agent.so", "malloc"); }

}  // namespace leakgate
