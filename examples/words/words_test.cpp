// Memory that no test leaves behind, and that is dear all the same: docs/recordings.md finds out
// what makes the peak, and what lives only for a moment.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace words {

std::string Text(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "a-rather-long-word-" + std::to_string(i % 100) + " ";
  return text;
}

// Keeps every word, to count some of them.
std::map<std::string, int> Count(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in(text);
  for (std::string word; in >> word;) all.push_back(word);
  std::map<std::string, int> counts;
  for (const std::string& word : all) ++counts[word];
  return counts;
}

// Copies what it has for each word.
std::string Join(const std::map<std::string, int>& counts) {
  std::string joined;
  for (const auto& [word, count] : counts)
    joined = joined + word + "=" + std::to_string(count) + "\n";
  return joined;
}

// What was asked for before is answered at once. Nothing is ever forgotten.
std::map<std::string, std::string>& Answers() {
  static auto* const answers = new std::map<std::string, std::string>;
  return *answers;
}

const std::string& Ask(const std::string& text) {
  const auto [answer, is_new] = Answers().try_emplace(text);
  if (is_new) answer->second = Join(Count(text));
  return answer->second;
}

}  // namespace words

TEST(Words, AreCounted) { EXPECT_EQ(words::Count(words::Text(20000)).size(), 100U); }

TEST(Words, AreJoined) { EXPECT_GT(words::Join(words::Count(words::Text(1000))).size(), 2000U); }

TEST(Words, AreAskedFor) { EXPECT_EQ(words::Ask(words::Text(500)), words::Ask(words::Text(500))); }
