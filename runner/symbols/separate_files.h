// Build-ids as text, and what tells a file from its debug information. Pure.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <libelf.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"

namespace leakgate {

inline std::string HexText(const unsigned char* bytes, std::ptrdiff_t count) {
  std::string text;
  for (std::ptrdiff_t i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

// The agent keeps the beginning of a build-id that is too long for its record.
inline std::string CutAsRecorded(const std::string& build_id) {
  return build_id.substr(0, 2 * sizeof(ModuleRecord::build_id));
}

// False of a file that has debug information alone.
[[nodiscard]] bool HasCode(Elf* elf);

// Servers of debug files (debuginfod). elfutils asks those that DEBUGINFOD_URLS names for what
// it finds nowhere else; without the variable, nobody. Here is what it leaves open: how long a
// server may say nothing, and what becomes of one that does.
//
// For commands that look at snapshots, on their one thread. Others take the variable out of
// their environment (attach/program_environment.h).

// Before the first lookup: what DEBUGINFOD_TIMEOUT and DEBUGINFOD_RETRY_LIMIT are, unless the
// user has set them. elfutils' own would be three times 90 s, for each module.
void LimitPatienceWithServers();

// One lookup that may ask a server, from construction to End.
class ServerLookup {
 public:
  ServerLookup() : begin_(std::chrono::steady_clock::now()) {}

  // Where nothing was found after as long as a server may be silent: none is asked any more.
  enum class Outcome { kFound, kNotFound };
  void End(Outcome outcome) const;

 private:
  const std::chrono::steady_clock::time_point begin_;
};

struct SilentServers {
  std::string urls;
  std::chrono::seconds patience{};
};
// Those that are asked no more.
[[nodiscard]] const std::optional<SilentServers>& ServersGivenUp();

// Files of debug information that other files name: by .gnu_debuglink, by dwz's
// .gnu_debugaltlink, by -gsplit-dwarf's .dwo, or by nothing but their build-id.
//
// elfutils opens whatever has such a name, and would wait for a FIFO, or read a device for ever.
// So debug files are looked for and opened here, as elfutils would look for them; what it opens
// by itself all the same is looked at first.

// In the place of dwfl_standard_find_debuginfo.
int FindSeparateFile(Dwfl_Module* module, void** userdata, const char* name, GElf_Addr base,
                     const char* file, const char* link, GElf_Word checksum, char** found);

// False: elfutils must not look for the build-id's file or debug information, since something
// else than a file has such a name below /usr/lib/debug.
[[nodiscard]] bool MayLookUp(const std::string& build_id);

// A module's debug information. `dwarf` is null where there is none, or where it names
// something else than a file.
struct DebugInformation {
  Dwarf* dwarf = nullptr;
  Dwarf_Addr bias = 0;
  // Of the files that it is in: what they name by a relative path is looked for there.
  std::vector<std::filesystem::path> directories = {};
};
[[nodiscard]] DebugInformation DebugInformationOf(Dwfl_Module* module);

// False: the other half of `unit`, the one in a file of its own, must not be asked for.
[[nodiscard]] bool MayReadSplitHalf(const DebugInformation& information, Dwarf_Die unit);

}  // namespace leakgate
