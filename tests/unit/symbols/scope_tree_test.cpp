// The scope tree is compared with a walk from the unit downwards, for each entry of debug
// information.
#include <dwarf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "runner/symbols/elf/debug_information.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

constexpr const char* kScopesSource = R"(
namespace net { namespace {
struct Pool {
  struct Slot { int size; static int Take() { return 1; } };
  union { int a; float b; };
  int Grow();
};
int Pool::Grow() {
  int sum = Slot::Take();
  {
    struct Local { static int Run() { return 2; } };
    sum += Local::Run();
  }
  auto each = [](int n) { struct In { int Go() { return 3; } } in; return n + in.Go(); };
  return sum + each(4);
}
int After() { return 5; }
} }  // namespace
int Outside() { net::Pool pool; return pool.Grow() + net::After(); }
struct Last { struct Inner { struct Innermost { int x; }; Innermost y; }; Inner z; };
Last last;
int behind_the_last;
)";

bool IsScope(Dwarf_Die* die) {
  switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
      return true;
    default:
      return false;
  }
}

class ScopeTreeTest : public ::testing::TestWithParam<const char*> {
 protected:
  ScopeTreeTest() {
    std::ofstream(folder_.path() / "source.cpp") << kScopesSource;
    folder_.Run(std::string(GetParam()) + " -c source.cpp -o out.o 2>/dev/null");
    fd_ = ::open((folder_.path() / "out.o").c_str(), O_RDONLY | O_CLOEXEC);
    dwarf_ = dwarf_begin(fd_, DWARF_C_READ);
  }
  ~ScopeTreeTest() override {
    dwarf_end(dwarf_);
    ::close(fd_);
  }

  // Returns the first unit.
  Dwarf_Die Unit() const {
    Dwarf_Off next = 0;
    std::size_t header_bytes = 0;
    Dwarf_Die unit{};
    EXPECT_EQ(dwarf_nextcu(dwarf_, 0, &next, &header_bytes, nullptr, nullptr, nullptr), 0);
    EXPECT_NE(dwarf_offdie(dwarf_, header_bytes, &unit), nullptr);
    return unit;
  }

  // Calls `use(entry, around)` for all entries in scopes below `die`; `around` is the offset of
  // the innermost scope around the entry, or 0. Inlined functions declare nothing.
  template <typename Use>
  static void ForEachEntry(Dwarf_Die* die, Dwarf_Off around, Use use) {
    Dwarf_Off reached = 0;
    ForEachChild(die, reached, [&](Dwarf_Die& child) {
      use(child, around);
      if (IsScope(&child)) ForEachEntry(&child, dwarf_dieoffset(&child), use);
      return true;
    });
  }

 private:
  ScratchFolder folder_;
  int fd_ = -1;
  Dwarf* dwarf_ = nullptr;
};

TEST_P(ScopeTreeTest, KnowsWhatIsAroundEachEntry) {
  Dwarf_Die unit = Unit();
  const ScopeTree tree(unit);
  int entries = 0;
  int in_scopes = 0;
  ForEachEntry(&unit, 0, [&](Dwarf_Die die, Dwarf_Off around) {
    const std::size_t scope = tree.Around(dwarf_dieoffset(&die));
    const Dwarf_Off found = scope == ScopeTree::kNone ? 0 : tree.At(scope).begin;
    EXPECT_EQ(found, around) << "of the entry at " << dwarf_dieoffset(&die);
    ++entries;
    if (around != 0) ++in_scopes;
  });
  EXPECT_GT(entries, 20);
  EXPECT_GT(in_scopes, 10);
}

INSTANTIATE_TEST_SUITE_P(, ScopeTreeTest,
                         ::testing::Values("g++ -g", "g++ -g -O2", "g++ -gdwarf-4", "clang++ -g",
                                           "clang++ -g -O2"));

}  // namespace
}  // namespace leakgate
