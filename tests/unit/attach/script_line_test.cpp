#include <gtest/gtest.h>

#include "runner/attach/linux/exec_call.h"

namespace leakgate {
namespace {

void ExpectLine(std::string_view begin, std::string_view interpreter, std::string_view argument) {
  const ScriptLine line = ParseScriptLine(begin);
  EXPECT_EQ(line.interpreter, interpreter) << begin;
  EXPECT_EQ(line.argument, argument) << begin;
}

TEST(ScriptLineTest, HasAnInterpreterAndOneArgument) {
  ExpectLine("#!/bin/sh\necho\n", "/bin/sh", "");
  ExpectLine("#! /usr/bin/env  -S python3 -u \nprint()\n", "/usr/bin/env", "-S python3 -u");
  ExpectLine("#!/bin/sh\t-e\r\n", "/bin/sh", "-e");
  ExpectLine("#!sh", "sh", "");
}

TEST(ScriptLineTest, IsNoneInOtherFiles) {
  for (const std::string_view begin : {"", "#", "#!", "#!\n/bin/sh", "#! \t \n",
                                       "\x7f"
                                       "ELF",
                                       " #!/bin/sh\n"}) {
    ExpectLine(begin, "", "");
  }
}

}  // namespace
}  // namespace leakgate
