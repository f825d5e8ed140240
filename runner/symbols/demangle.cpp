#include "runner/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace leakgate {

std::string Demangle(const std::string& symbol) {
  // A dot is no part of C++'s mangling, nor of a name in C.
  const std::size_t dot = symbol.find('.', 1);
  const std::string plain = symbol.substr(0, dot);
  if (plain.rfind("_Z", 0) != 0) return plain;

  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : plain;
}

}  // namespace leakgate
