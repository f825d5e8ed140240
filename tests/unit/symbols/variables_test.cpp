#include "runner/symbols/variables.h"

#include <gmock/gmock.h>

#include "tests/unit/symbols/compiled_library.h"

namespace leakgate {
namespace {

constexpr char kVariablesSource[] = R"(
namespace net {
int g_count = 1;
struct Cache { static int size; };
int Cache::size = 2;
static int* Local() {
  static int local = 3;
  return &local;
}
}  // namespace net
thread_local int t_count = 4;
extern "C" void* Global() { return &net::g_count; }
extern "C" void* Member() { return &net::Cache::size; }
extern "C" void* Local() { return net::Local(); }
extern "C" void* ThreadLocal() { return &t_count; }
)";

// Reads debug information in each form that compilers write. The half that -gsplit-dwarf puts into
// a file of its own has its own table of files.
class VariablesTest : public testing::TestWithParam<const char*> {
 protected:
  std::optional<Variable> At(const char* function) {
    const std::uint64_t address = library_.Call(function);
    return variables_.At(library_.file(), address - ModuleOf(address).bias);
  }
  Variable Declared(const std::string& name, int line) {
    return {name, {std::filesystem::canonical(library_.source()), line}};
  }

  CompiledLibrary library_{kVariablesSource, GetParam()};
  Variables variables_;
};

TEST_P(VariablesTest, TellWhereAGlobalIsDeclared) {
  EXPECT_EQ(At("Global"), Declared("net::g_count", 3));
}

TEST_P(VariablesTest, TellWhereAStaticMemberIsDefined) {
  ASSERT_TRUE(At("Member"));
  EXPECT_EQ(At("Member")->name, "net::Cache::size");
  EXPECT_EQ(At("Member")->position.file, std::filesystem::canonical(library_.source()));
}

TEST_P(VariablesTest, TellWhereAFunctionStaticIsDeclared) {
  EXPECT_EQ(At("Local"), Declared("net::Local()::local", 7));
}

// With -gsplit-dwarf, GCC writes an address for the place of a thread-local: then it has only a
// name, and not another variable's line.
TEST_P(VariablesTest, TellWhereAThreadLocalIsDeclared) {
  const bool is_split = std::string(GetParam()).find("split") != std::string::npos;
  EXPECT_EQ(variables_.ThreadLocalAt(library_.file(), 0),
            is_split ? (Variable{"t_count", {}}) : Declared("t_count", 11));
}

INSTANTIATE_TEST_SUITE_P(Formats, VariablesTest,
                         testing::Values("-g -O1", "-gdwarf-4 -O1", "-g -gz",
                                         "-g -Wl,--compress-debug-sections=zstd", "-g -O1 -flto",
                                         "-g -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf -O1"));

}  // namespace
}  // namespace leakgate
