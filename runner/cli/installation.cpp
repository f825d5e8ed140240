#include "runner/cli/installation.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <zlib.h>

#include <CLI/Version.hpp>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/path_text.h"
#include "runner/process/process_image.h"
#include "runner/symbols/debug_facts.h"

namespace leakgate {
namespace {

std::string Compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "an unknown compiler";
#endif
}

std::string Libraries() {
  return fmt::format(
      "{}, Boost {}.{}.{}, nlohmann/json {}.{}.{}, fmt {}.{}.{}, CLI11 {}, SQLite {}, "
      "zlib {}",
      DebugLibraryVersion(), BOOST_VERSION / 100'000, BOOST_VERSION / 100 % 1000,
      BOOST_VERSION % 100, NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH, FMT_VERSION / 10'000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      CLI11_VERSION, ::sqlite3_libversion(), ::zlibVersion());
}

// The build tree or the prefix that this program is in.
std::filesystem::path InstallationRoot() {
  return PathOf(ImageOf(OwnPid())).parent_path().parent_path();
}

}  // namespace

std::string VersionText() {
  return fmt::format(
      "leakgate {} (region layout {})\n"
      "build: {}, {}\n"
      "libraries: {}",
      LEAKGATE_VERSION, kLayoutVersion, LEAKGATE_BUILD_TYPE, Compiler(), Libraries());
}

std::string VersionNumber() { return LEAKGATE_VERSION; }

std::string BuildDate() { return LEAKGATE_BUILD_DATE; }

std::filesystem::path FindAgent() { return InstallationRoot() / LEAKGATE_AGENT_FILE; }

std::filesystem::path FindSelfTest() { return InstallationRoot() / "lib/leakgate/self_test"; }

std::filesystem::path FindDocument(const std::string& name) {
  return InstallationRoot() / "share/doc/leakgate/docs" / (name + ".md");
}

}  // namespace leakgate
