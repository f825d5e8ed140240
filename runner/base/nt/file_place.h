// Where a file that is to be written goes, for AtomicFile.
#pragma once

#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

// A folder, which is held open, and a name there; or a pipe, a device or a console, which is
// written as it is.
class FilePlace {
 public:
  UniqueFd directory;
  std::wstring folder;     // its path
  std::wstring name;       // of the file, in the folder
  bool is_direct = false;  // `name` is the whole path of a pipe, a device or a console
  bool is_occupied = false;
  bool is_link = false;

  [[nodiscard]] std::wstring path() const { return is_direct ? name : folder + L'\\' + name; }
};

}  // namespace leakgate
