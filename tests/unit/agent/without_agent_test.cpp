#include "plugin/agent/exec/without_agent.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <vector>

#include "tests/support/command.h"

namespace leakgate::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The file that cannot have the agent is one of another architecture, as far as it goes.
class WithoutAgentTest : public testing::Test {
 protected:
  static std::string ForeignFile(const test::TemporaryDirectory& directory) {
    std::string elf(64, '\0');
    elf.replace(0, 5,
                "\x7f"
                "ELF\x01");
    return directory.Write("foreign", elf);
  }

  // Empty: it is executed with what it was given.
  std::vector<std::string> Environment(const std::string& file, std::vector<std::string> given) {
    std::vector<char*> pointers;
    for (std::string& variable : given) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    const ExecFile exec{.path = file.c_str(), .environment = pointers.data()};
    const EnvironmentSize size = SizeWithoutAgent(exec);
    if (size.variables == 0) return {};
    std::vector<char*> variables(size.variables);
    std::vector<char> text(size.text_bytes);
    CopyWithoutAgent(exec, variables.data(), text.data());
    std::vector<std::string> copied;
    for (char* const* it = variables.data(); *it != nullptr; ++it) copied.emplace_back(*it);
    return copied;
  }

  test::TemporaryDirectory directory_;
  std::string foreign_ = ForeignFile(directory_);
};

TEST_F(WithoutAgentTest, LeavesAllElseAsItWas) {
  EXPECT_THAT(Environment(foreign_, {"A=1", "LD_PRELOAD=/lib/libleakgate_agent.so", "B="}),
              ElementsAre("A=1", "B="));
}

TEST_F(WithoutAgentTest, KeepsWhatElseIsPreloaded) {
  EXPECT_THAT(Environment(foreign_, {"LD_PRELOAD=/l/libleakgate_agent.so:a.so b.so", "A="}),
              ElementsAre("LD_PRELOAD=a.so:b.so", "A="));
  EXPECT_THAT(Environment(foreign_, {"LD_PRELOAD=a.so:/l/libleakgate_agent.so::b.so"}),
              ElementsAre("LD_PRELOAD=a.so:b.so"));
}

TEST_F(WithoutAgentTest, TakesEachOfSeveralVariables) {
  EXPECT_THAT(Environment(foreign_, {"LD_PRELOAD=a.so:/l/libleakgate_agent.so",
                                     "LD_PRELOAD=/l/libleakgate_agent.so b.so"}),
              ElementsAre("LD_PRELOAD=a.so", "LD_PRELOAD=b.so"));
}

TEST_F(WithoutAgentTest, KnowsTheAgentByItsNameAlone) {
  EXPECT_THAT(Environment(foreign_, {"LD_PRELOAD=/src/leakgate/libleak.so"}), IsEmpty());
  EXPECT_THAT(Environment(foreign_, {"A=/l/libleakgate_agent.so"}), IsEmpty());
  EXPECT_THAT(Environment(foreign_, {}), IsEmpty());
}

TEST_F(WithoutAgentTest, ChangesNothingForWhatTakesTheAgent) {
  const std::vector<std::string> preloaded = {"LD_PRELOAD=/l/libleakgate_agent.so"};
  for (const char* const file : {"/bin/true", "/no/such/file", "/", "/dev/null"}) {
    EXPECT_THAT(Environment(file, preloaded), IsEmpty()) << file;
  }
  EXPECT_THAT(Environment(directory_.Write("empty", ""), preloaded), IsEmpty());
  EXPECT_THAT(Environment(directory_.Write("text", "echo"), preloaded), IsEmpty());
  EXPECT_THAT(Environment(directory_.Write("script", "#!/bin/sh\n"), preloaded), IsEmpty());
  EXPECT_THAT(Environment(directory_.Write("cut",
                                           "\x7f"
                                           "ELF"),
                          preloaded),
              IsEmpty());
}

TEST_F(WithoutAgentTest, FollowsAScriptToItsInterpreter) {
  const std::vector<std::string> preloaded = {"A=", "LD_PRELOAD=/l/libleakgate_agent.so"};
  const std::string script = directory_.Write("script", "#! \t" + foreign_ + " -x\n");
  EXPECT_THAT(Environment(script, preloaded), ElementsAre("A="));
  EXPECT_THAT(Environment(directory_.Write("again", "#!" + script), preloaded), ElementsAre("A="));
  const std::string circle = directory_.File("circle");
  directory_.Write("circle", "#!" + circle);
  EXPECT_THAT(Environment(circle, preloaded), IsEmpty());
}

}  // namespace
}  // namespace leakgate::agent
