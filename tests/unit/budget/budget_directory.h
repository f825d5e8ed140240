// A directory for the budget files of one test, removed at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace leakgate {

class BudgetDirectory {
 public:
  BudgetDirectory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "leakgate-budgets-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = std::filesystem::canonical(name);
  }
  ~BudgetDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  BudgetDirectory(const BudgetDirectory&) = delete;
  BudgetDirectory& operator=(const BudgetDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Writes a file, with the directories that lead to it.
  std::filesystem::path Write(const std::filesystem::path& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace leakgate
