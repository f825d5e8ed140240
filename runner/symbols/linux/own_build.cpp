#include "runner/symbols/own_build.h"

#include <link.h>

#include <cstring>

#include "runner/symbols/elf/elf_file.h"

namespace leakgate {

// It is the build-id.
std::string OwnBuild() {
  std::string id;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* found) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = module->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
          const char* const end = at + segment.p_memsz;
          while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* const name = at + sizeof note;
            const std::size_t name_bytes = (note.n_namesz + 3) & ~3U;
            const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
                               std::memcmp(name, "GNU", sizeof "GNU") == 0;
            if (is_id) {
              *static_cast<std::string*>(found) =
                  HexText(reinterpret_cast<const unsigned char*>(name + name_bytes),
                          static_cast<std::ptrdiff_t>(note.n_descsz));
              return 1;
            }
            at = name + name_bytes + ((note.n_descsz + 3) & ~3U);
          }
        }
        return 1;  // the first module is the program
      },
      &id);
  return id;
}

}  // namespace leakgate
