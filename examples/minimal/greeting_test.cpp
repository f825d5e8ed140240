#include <gtest/gtest.h>

#include <memory>
#include <string>

struct Greeting {
  std::string name;
  std::string text;
  int times = 0;
};

Greeting* Greet(const std::string& name) { return new Greeting{name, "Good morning, " + name}; }

TEST(Greeting, IsOwned) {
  const std::unique_ptr<Greeting> greeting(Greet("Ada"));
  EXPECT_EQ("Good morning, Ada", greeting->text);
}

TEST(Greeting, IsForgotten) { EXPECT_EQ("Good morning, Ada", Greet("Ada")->text); }
