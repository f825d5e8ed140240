#include "runner/base/path_text.h"

namespace leakgate {
namespace {

struct Letters {
  unsigned first = 0;  // capitals, up to `last`
  unsigned last = 0;
  unsigned step = 1;  // 2: each second letter is a small one
  int to_small = 1;
};

// Those of two bytes in UTF-8. The small letters that NTFS has no capital for are in none.
constexpr Letters kCapitals[] = {
    {0xC0, 0xD6, 1, 0x20},    {0xD8, 0xDE, 1, 0x20},   {0x100, 0x12E, 2},
    {0x132, 0x136, 2},        {0x139, 0x147, 2},       {0x14A, 0x176, 2},
    {0x178, 0x178, 1, -0x79}, {0x179, 0x17D, 2},       {0x386, 0x386, 1, 0x26},
    {0x388, 0x38A, 1, 0x25},  {0x38C, 0x38C, 1, 0x40}, {0x38E, 0x38F, 1, 0x3F},
    {0x391, 0x3A1, 1, 0x20},  {0x3A3, 0x3AB, 1, 0x20}, {0x3C2, 0x3C2},
    {0x401, 0x40C, 1, 0x50},  {0x40E, 0x40F, 1, 0x50}, {0x410, 0x42F, 1, 0x20},
    {0x460, 0x480, 2},        {0x490, 0x4BE, 2},
};

unsigned SmallLetter(unsigned letter) {
  for (const Letters& capitals : kCapitals) {
    if (letter < capitals.first || letter > capitals.last) continue;
    const bool is_capital = (letter - capitals.first) % capitals.step == 0;
    return is_capital ? letter + static_cast<unsigned>(capitals.to_small) : letter;
  }
  return letter;
}

}  // namespace

std::string FoldedPath(std::string_view path) {
  std::string folded(path);
  for (std::size_t i = 0; i < folded.size(); ++i) {
    char& c = folded[i];
    if (c == '\\') c = '/';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    const bool begins_letter = (c & 0xE0) == 0xC0 && i + 1 < folded.size();
    if (!begins_letter || (folded[i + 1] & 0xC0) != 0x80) continue;
    const unsigned letter = static_cast<unsigned>(c & 0x1F) << 6 | (folded[i + 1] & 0x3F);
    const unsigned small = SmallLetter(letter);
    c = static_cast<char>(0xC0 | small >> 6);
    folded[++i] = static_cast<char>(0x80 | (small & 0x3F));
  }
  return folded;
}

}  // namespace leakgate
