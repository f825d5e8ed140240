#include "tests/support/public_copy.h"

#include <filesystem>

#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

namespace fs = std::filesystem;

void CopyForAll(const fs::path& from, const fs::path& to) {
  fs::copy_file(from, to);
  fs::permissions(to, fs::perms(0755));
}

// leakgate with its agent.
class Installation {
 public:
  Installation() {
    for (const char* const folder : {"", "bin", "lib"}) {
      fs::create_directories(directory_.File(folder));
      fs::permissions(directory_.File(folder), fs::perms(0755));
    }
    CopyForAll(LeakgatePath(), Leakgate());
    CopyForAll(fs::path(LeakgatePath()).parent_path() / "../lib/libleakgate_agent.so",
               directory_.File("lib/libleakgate_agent.so"));
  }
  std::string Leakgate() const { return directory_.File("bin/leakgate"); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

PublicCopy::PublicCopy() { fs::permissions(directory_.path(), fs::perms(0755)); }

std::string PublicCopy::Leakgate() {
  static const Installation installation;
  return installation.Leakgate();
}

std::string PublicCopy::Add(const std::string& path) const {
  const std::string copy = directory_.File(fs::path(path).filename());
  CopyForAll(path, copy);
  return copy;
}

}  // namespace leakgate::test
