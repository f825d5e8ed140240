#include "runner/cli/profiler/replace_process.h"

#include <unistd.h>

#include "runner/base/descriptors.h"

namespace leakgate {
namespace {

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string ReplaceProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                           std::vector<std::string> environment) {
  ::execve(program.c_str(), PointersTo(arguments).data(), PointersTo(environment).data());
  return ErrnoText();
}

}  // namespace leakgate
