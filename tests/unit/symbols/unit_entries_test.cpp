// What is found at once is compared with what a walk over all entries finds, for each unit of
// libraries that several compilers have made.
#include "runner/symbols/elf/unit_entries.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "runner/symbols/elf/debug_information.h"
#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

constexpr const char* kUnitSource = R"(
#include <map>
#include <string>
#include <vector>
namespace net { namespace {
int g_count = 1;
thread_local long t_bytes = 2;
struct Pool {
  static int s_size;
  int Grow(int n) { static int grown; return grown += n; }
};
int Pool::s_size = 3;
template <typename T> T* Make() { static T made; return &made; }
} }  // namespace
std::map<std::string, std::vector<int>>& Registry() {
  static std::map<std::string, std::vector<int>> registry;
  return registry;
}
extern "C" const void* Run(int n) {
  net::Pool pool;
  int local = pool.Grow(n) + net::g_count + net::Pool::s_size;
  auto each = [&](int m) { static int calls; return calls += m + local; };
  Registry()["net"].push_back(each(n));
  net::t_bytes += *net::Make<int>();
  return net::Make<std::string>();
}
)";

class UnitEntriesTest : public testing::TestWithParam<const char*> {
 protected:
  UnitEntriesTest() {
    std::ofstream(folder_.path() / "net.cpp") << kUnitSource;
    folder_.Run(std::string(GetParam()) + " -shared -fPIC net.cpp -o libnet.so");
    fd_ = ::open((folder_.path() / "libnet.so").c_str(), O_RDONLY | O_CLOEXEC);
    dwarf_ = dwarf_begin(fd_, DWARF_C_READ);
  }
  ~UnitEntriesTest() override {
    dwarf_end(dwarf_);
    ::close(fd_);
  }

  static bool StaysAtOnePlace(Dwarf_Die* die) {
    Dwarf_Attribute location;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_attr(die, DW_AT_location, &location) == nullptr ||
        dwarf_whatform(&location) != DW_FORM_exprloc ||
        dwarf_getlocation(&location, &operations, &count) != 0 || count == 0) {
      return false;
    }
    switch (operations[0].atom) {
      case DW_OP_addr:
      case DW_OP_addrx:
      case DW_OP_constx:
      case DW_OP_const4u:
      case DW_OP_const8u:
        return true;
      default:
        return false;
    }
  }

  static void Walk(Dwarf_Die* die, UnitEntries& found) {
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0) return;
    do {
      const int tag = dwarf_tag(&child);
      const bool has_code =
          dwarf_hasattr(&child, DW_AT_low_pc) || dwarf_hasattr(&child, DW_AT_ranges);
      if (tag == DW_TAG_subprogram && has_code) found.functions.push_back(dwarf_dieoffset(&child));
      if (tag == DW_TAG_variable && StaysAtOnePlace(&child)) {
        found.variables.push_back(dwarf_dieoffset(&child));
      }
      Walk(&child, found);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  ScratchFolder folder_;
  int fd_ = -1;
  Dwarf* dwarf_ = nullptr;
};

TEST_P(UnitEntriesTest, AreThoseThatAWalkFinds) {
  Dwarf_CU* cu = nullptr;
  std::uint8_t type = 0;
  Dwarf_Die unit;
  std::size_t functions = 0;
  std::size_t variables = 0;
  while (dwarf_get_units(dwarf_, cu, &cu, nullptr, &type, &unit, nullptr) == 0) {
    if (type != DW_UT_compile) continue;
    const std::optional<UnitEntries> found = FindEntries(unit);
    ASSERT_TRUE(found);
    UnitEntries walked;
    Walk(&unit, walked);
    EXPECT_EQ(found->functions, walked.functions);
    EXPECT_EQ(found->variables, walked.variables);
    functions += walked.functions.size();
    variables += walked.variables.size();
  }
  EXPECT_GT(functions, 5U);
  EXPECT_GE(variables, 3U);  // optimisers leave out some
}

INSTANTIATE_TEST_SUITE_P(, UnitEntriesTest,
                         ::testing::Values("g++ -g", "g++ -g -O2", "g++ -g3 -gdwarf-4",
                                           "g++ -g -gz=zlib", "g++ -gdwarf-4 -fdebug-types-section",
                                           "clang++ -g", "clang++ -g -O2", "clang++ -gdwarf-4"));

}  // namespace
}  // namespace leakgate
