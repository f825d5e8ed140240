// The tests leave nothing behind. What they start may.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>

// The program's path: EXAMPLE_SPELL, which CMakeLists.txt sets.
int Spell(const char* word) {
  const char* const arguments[] = {EXAMPLE_SPELL, word, nullptr};
  pid_t pid = 0;
  posix_spawn(&pid, EXAMPLE_SPELL, nullptr, nullptr, const_cast<char**>(arguments), environ);
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

TEST(Spell, KnowsAWord) { EXPECT_EQ(0, Spell("budget")); }

TEST(Spell, FindsAMistake) { EXPECT_EQ(1, Spell("lekage")); }

TEST(Spell, IsRunByAShell) { EXPECT_EQ(0, std::system(EXAMPLE_SPELL " gate >/dev/null")); }
