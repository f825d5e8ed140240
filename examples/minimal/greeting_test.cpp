#include <gtest/gtest.h>

#include <memory>
#include <string>

std::string* Greet(const std::string& name) { return new std::string("Good morning, " + name); }

TEST(Greeting, IsOwned) {
  const std::unique_ptr<std::string> greeting(Greet("Ada"));
  EXPECT_EQ("Good morning, Ada", *greeting);
}

TEST(Greeting, IsForgotten) { EXPECT_EQ("Good morning, Ada", *Greet("Ada")); }
