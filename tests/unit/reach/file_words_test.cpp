#include "runner/reach/linux/file_words.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "runner/base/page_size.h"

namespace leakgate::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kBlock = 0x5581'1234'5678;
const AddressTops kTops = {0x5581};

TEST(WordsWithTopsTest, AreTheFirstAndTheLastWhereNoneHasATop) {
  const std::uint64_t words[] = {1, 2, 3, 4};
  EXPECT_THAT(WordsWithTops(0x1000, words, kTops),
              ElementsAre(MappedWord{0x1000, 1, 2}, MappedWord{0x1018, 4, 0}));
}

TEST(WordsWithTopsTest, AreNoneOfNoWords) {
  EXPECT_THAT(WordsWithTops(0x1000, {}, kTops), IsEmpty());
}

TEST(WordsWithTopsTest, HaveAnAddressAtAnyByte) {
  for (unsigned byte = 0; byte < 8; ++byte) {
    std::uint64_t words[8] = {};
    std::memcpy(reinterpret_cast<char*>(words) + 24 + byte, &kBlock, sizeof(kBlock));
    EXPECT_THAT(WordsWithTops(0x1000, words, kTops),
                Contains(MappedWord{0x1018, words[3], words[4]}))
        << byte;
  }
}

TEST(WordsWithTopsTest, HaveAnAddressInTheHighBits) {
  const std::uint64_t words[] = {0, 0, kBlock << 16 | 7, 0, 0};
  EXPECT_THAT(WordsWithTops(0x1000, words, kTops), Contains(MappedWord{0x1010, words[2], 0}));
}

TEST(WordsWithTopsTest, HaveOneOfSeveralTops) {
  const std::uint64_t words[] = {0, 0, kBlock, 0, 0, 0x7f01'0000'0008, 0, 0};
  const std::vector<MappedWord> found = WordsWithTops(0x1000, words, {0x5581, 0x7f01});
  EXPECT_THAT(found, Contains(MappedWord{0x1010, words[2], 0}));
  EXPECT_THAT(found, Contains(MappedWord{0x1028, words[5], 0}));
}

// A file of two pages, mapped by this very process.
class FileWordsTest : public ::testing::Test {
 protected:
  FileWordsTest() {
    fd_ = ::mkstemp(path_.data());
    Write(kBlock);
    EXPECT_EQ(::ftruncate(fd_, static_cast<off_t>(bytes_)), 0);
    Map(MAP_PRIVATE);
  }
  ~FileWordsTest() override {
    ::munmap(mapped_, bytes_);
    ::close(fd_);
    ::unlink(path_.c_str());
  }

  void Write(std::uint64_t word) const {
    ASSERT_EQ(::pwrite(fd_, &word, sizeof(word), 0x100), ssize_t{sizeof(word)});
  }
  static void WaitUntilSettled() { ::usleep(2 * kTick.count() / 1000); }

  void Map(int how) {
    mapped_ = ::mmap(nullptr, bytes_, PROT_READ, how, fd_, 0);
    ASSERT_NE(mapped_, MAP_FAILED);
    (void)*static_cast<volatile char*>(mapped_);
    begin_ = reinterpret_cast<std::uint64_t>(mapped_);
  }

  // What the words are now; nothing if all must be read.
  std::vector<MappedWord> Look(const AddressTops& tops = kTops) {
    const auto maps = ReadMaps(::getpid());
    words_.BeginLook(::getpid(), *maps);
    const ProcessMemory memory(::getpid());
    const auto* const known = words_.In({begin_, begin_ + PageBytes()}, tops, memory);
    return known == nullptr ? std::vector<MappedWord>() : *known;
  }

  static auto HasBlock() { return Contains(Field(&MappedWord::word, kBlock)); }

  static constexpr std::chrono::nanoseconds kTick{50'000'000};
  const std::size_t bytes_ = 2 * PageBytes();
  std::string path_ = "/tmp/leakgate_file_words_XXXXXX";
  int fd_ = -1;
  void* mapped_ = nullptr;
  std::uint64_t begin_ = 0;
  FileWords words_{kTick};
};

TEST_F(FileWordsTest, AreRememberedOfAFileThatIsLeftAlone) {
  Write(kBlock);
  EXPECT_THAT(Look(), IsEmpty()) << "it may change within a tick of the clock";
  WaitUntilSettled();
  EXPECT_THAT(Look(), HasBlock());
  EXPECT_THAT(Look(), HasBlock());
}

TEST_F(FileWordsTest, AreReadAgainOnceTheFileHasChanged) {
  WaitUntilSettled();
  ASSERT_THAT(Look(), HasBlock());
  Write(kBlock + 0x1'0000);
  WaitUntilSettled();
  EXPECT_THAT(Look(), Contains(Field(&MappedWord::word, kBlock + 0x1'0000)));
  EXPECT_THAT(Look(), Not(HasBlock()));
}

TEST_F(FileWordsTest, AreLookedForAgainWithOtherTops) {
  WaitUntilSettled();
  ASSERT_THAT(Look({0x4321}), Not(HasBlock()));
  EXPECT_THAT(Look({0x5581}), HasBlock());
}

TEST_F(FileWordsTest, AreNotRememberedWhereAnyAddressMayBe) {
  WaitUntilSettled();
  EXPECT_THAT(Look({}), IsEmpty());
  EXPECT_THAT(Look({0, 0x5581}), IsEmpty()) << "below 4 GiB, addresses are like other numbers";
}

TEST_F(FileWordsTest, AreNotRememberedOfAFileThatIsMappedShared) {
  WaitUntilSettled();
  ASSERT_THAT(Look(), HasBlock());
  void* const shared = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  ASSERT_NE(shared, MAP_FAILED);
  EXPECT_THAT(Look(), IsEmpty());
  ::munmap(shared, bytes_);
}

TEST_F(FileWordsTest, AreNotRememberedOfAFileThatHasGone) {
  WaitUntilSettled();
  ASSERT_THAT(Look(), HasBlock());
  ::unlink(path_.c_str());
  EXPECT_THAT(Look(), IsEmpty());
}

}  // namespace
}  // namespace leakgate::test
