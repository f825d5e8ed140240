// Files of debug information that other files name: by .gnu_debuglink, by dwz's
// .gnu_debugaltlink, by -gsplit-dwarf's .dwo, or by nothing but their build-id.
//
// elfutils opens whatever has such a name, and would wait for a FIFO, or read a device for ever.
// So debug files are looked for and opened here, as elfutils would look for them; what it opens
// by itself all the same is looked at first.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

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
