// leakgate and what it runs, copied to where every user can read them: a checkout
// may be below a home directory that only its owner may enter.
#pragma once

#include <string>

#include "tests/support/command.h"

namespace leakgate::test {

class PublicCopy {
 public:
  PublicCopy();

  // All copies of this process share it.
  static std::string Leakgate();
  // Copies a file to a directory of this copy's own, and returns its new path.
  std::string Add(const std::string& path) const;

 private:
  TemporaryDirectory directory_;
};

}  // namespace leakgate::test
