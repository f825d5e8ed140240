// A program of its own: says whether a word is spelt right. Exit code 1: it is not.
#include <cstdio>
#include <string>

struct Dictionary {
  std::string words = "leak gate budget";
};

int main(int argc, char** argv) {
  auto* const dictionary = new Dictionary;
  const std::string word = argc > 1 ? argv[1] : "";
  if (dictionary->words.find(word) == std::string::npos) {
    std::printf("%s?\n", word.c_str());
    return 1;  // and forgets the dictionary
  }
  delete dictionary;
  return 0;
}
