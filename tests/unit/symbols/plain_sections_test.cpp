#include "runner/symbols/plain_sections.h"

#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runner/symbols/elf/elf_file.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

constexpr char kCountSource[] = "#include <cstdint>\nstd::int64_t g_count = 1;";
constexpr char kZstd[] = "-g -Wl,--compress-debug-sections=zstd";

UniqueFd Open(const CompiledLibrary& library) {
  return UniqueFd(::open(library.file().c_str(), O_RDWR | O_CLOEXEC));
}

int CountCompressed(const UniqueFd& file) {
  const ElfHandle elf = OpenElf(file);
  int count = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    gelf_getshdr(section, &header);
    if ((header.sh_flags & SHF_COMPRESSED) != 0) ++count;
  }
  return count;
}

TEST(PlainSectionsTest, HasNoneThatIsCompressedByZstd) {
  const CompiledLibrary library(kCountSource, kZstd);
  ASSERT_GT(CountCompressed(Open(library)), 0);
  EXPECT_EQ(CountCompressed(WithPlainSections(Open(library))), 0);
}

TEST(PlainSectionsTest, LeavesOtherFilesAsTheyAre) {
  const CompiledLibrary library(kCountSource, "-g -gz=zlib");
  UniqueFd file = Open(library);
  const int number = file.get();
  EXPECT_EQ(WithPlainSections(std::move(file)).get(), number);
}

// Any word of the file may be wrong: what cannot be decompressed stays, and nothing is read or
// written out of bounds.
TEST(PlainSectionsTest, TakesDamagedFiles) {
  const CompiledLibrary library(kCountSource, kZstd);
  const UniqueFd file = Open(library);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  for (const std::uint64_t wrong : {~std::uint64_t{0}, std::uint64_t{1} << 33, std::uint64_t{0}}) {
    for (off_t at = 0; at + 8 <= size; at += 8) {
      std::uint64_t right = 0;
      ASSERT_EQ(::pread(file.get(), &right, sizeof(right), at), 8);
      ASSERT_EQ(::pwrite(file.get(), &wrong, sizeof(wrong), at), 8);
      const UniqueFd plain = WithPlainSections(Open(library));
      EXPECT_TRUE(plain);
      ASSERT_EQ(::pwrite(file.get(), &right, sizeof(right), at), 8);
    }
  }
}

}  // namespace
}  // namespace leakgate
