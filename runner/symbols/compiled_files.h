// Where the files are that the compiler was given by relative names, as Meson gives
// them: the names say nothing without the directory of the build, which debug
// information tells. Used before a program starts, for GoogleTest tells such names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace leakgate {

class CompiledFiles {
 public:
  // Of a program's file. None are known of one without debug information.
  explicit CompiledFiles(const std::filesystem::path& program);

  // The file that was compiled by this name; nothing if that is not known, if several
  // were, or if it is not there (any more, or on this machine).
  [[nodiscard]] std::optional<std::string> Find(const std::string& name) const;

 private:
  std::map<std::string, std::string> by_name_;  // relative ones; empty: several
};

}  // namespace leakgate
