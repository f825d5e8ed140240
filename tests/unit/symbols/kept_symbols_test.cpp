#include "runner/symbols/kept_symbols.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

using Kind = KeptSymbols::Kind;

constexpr std::size_t kNoLimit = 1 << 20;
constexpr char kIdentity[] = "/bin/net_test, as it was built at noon";

Frame FrameOf(const std::string& function, int line) {
  Frame frame;
  frame.function = function;
  frame.file = "/src/net/pool.cc";
  frame.line = line;
  frame.inlined = line % 2 == 0;
  frame.called_function = "malloc";
  frame.calls_through_pointer = line % 3 == 0;
  return frame;
}

const std::vector<Frame> kGrow = {FrameOf("net::Slot::Take", 12), FrameOf("net::Pool::Grow", 7)};

std::string Written() {
  KeptSymbols symbols("", kIdentity);
  symbols.Keep(Kind::kFrames, 0x2000, kGrow);
  symbols.Keep(Kind::kFrames, 0x1000, {FrameOf("main", 3)});
  symbols.Keep(Kind::kGlobal, 0x2000, {FrameOf("net::g_pool", 1)});
  symbols.Keep(Kind::kThreadLocal, 8, {});
  return symbols.Write("", kNoLimit);
}

TEST(KeptSymbolsTest, TellWhatWasKept) {
  const KeptSymbols symbols(Written(), kIdentity);
  EXPECT_EQ(symbols.Find(Kind::kFrames, 0x2000), kGrow);
  EXPECT_EQ(symbols.Find(Kind::kFrames, 0x1000), std::vector{FrameOf("main", 3)});
  EXPECT_EQ(symbols.Find(Kind::kGlobal, 0x2000), std::vector{FrameOf("net::g_pool", 1)});
  EXPECT_FALSE(symbols.HasNew());
}

TEST(KeptSymbolsTest, ToldApartIsWhatIsNothingFromWhatIsNotKnown) {
  const KeptSymbols symbols(Written(), kIdentity);
  EXPECT_EQ(symbols.Find(Kind::kThreadLocal, 8), std::vector<Frame>());
  EXPECT_EQ(symbols.Find(Kind::kThreadLocal, 16), std::nullopt);
  EXPECT_EQ(symbols.Find(Kind::kGlobal, 0x1000), std::nullopt);
  EXPECT_EQ(symbols.Find(Kind::kFrames, 0x1FFF), std::nullopt);
}

TEST(KeptSymbolsTest, CountForTheirOwnFileAlone) {
  const KeptSymbols symbols(Written(), std::string(kIdentity) + " and again at one");
  EXPECT_EQ(symbols.Find(Kind::kFrames, 0x2000), std::nullopt);
}

TEST(KeptSymbolsTest, CountNoMoreWhereAnyBitIsDamaged) {
  const std::string sound = Written();
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const KeptSymbols symbols(damaged, kIdentity);
    ASSERT_EQ(symbols.Find(Kind::kFrames, 0x2000), std::nullopt) << "at " << at;
  }
}

TEST(KeptSymbolsTest, CountNoMoreWhereTheirEndIsMissing) {
  const std::string sound = Written();
  for (std::size_t size = 0; size < sound.size(); ++size) {
    const KeptSymbols symbols(sound.substr(0, size), kIdentity);
    ASSERT_EQ(symbols.Find(Kind::kFrames, 0x2000), std::nullopt) << size << " bytes";
  }
}

TEST(KeptSymbolsTest, AreWrittenWithWhatAnotherProcessHasAddedMeanwhile) {
  KeptSymbols symbols(Written(), kIdentity);
  symbols.Keep(Kind::kFrames, 0x3000, {FrameOf("mine", 1)});
  KeptSymbols others("", kIdentity);
  others.Keep(Kind::kFrames, 0x4000, {FrameOf("others'", 2)});
  const KeptSymbols all(symbols.Write(others.Write("", kNoLimit), kNoLimit), kIdentity);
  EXPECT_EQ(all.Find(Kind::kFrames, 0x2000), kGrow);
  EXPECT_EQ(all.Find(Kind::kFrames, 0x3000), std::vector{FrameOf("mine", 1)});
  EXPECT_EQ(all.Find(Kind::kFrames, 0x4000), std::vector{FrameOf("others'", 2)});
}

TEST(KeptSymbolsTest, BeginAnewWhereTheyWouldBeTooMany) {
  KeptSymbols symbols(Written(), kIdentity);
  symbols.Keep(Kind::kFrames, 0x3000, {FrameOf("mine", 1)});
  const std::string few = symbols.Write("", 200);
  const KeptSymbols left(few, kIdentity);
  EXPECT_EQ(left.Find(Kind::kFrames, 0x3000), std::vector{FrameOf("mine", 1)});
  EXPECT_EQ(left.Find(Kind::kFrames, 0x2000), std::nullopt);
  EXPECT_EQ(symbols.Write("", 10), "");
}

}  // namespace
}  // namespace leakgate
