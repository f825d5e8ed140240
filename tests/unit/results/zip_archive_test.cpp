// What programs write into zip archives, and what is damaged in them.
#include "runner/archive/zip_archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/base/regular_file.h"
#include "tests/unit/results/reports.h"
#include "tests/unit/results/zip_bytes.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;

// Long enough for deflate to have something to do.
std::string SampleText(char letter) { return fmt::format("{}end", std::string(100'000, letter)); }

class ZipArchiveTest : public merging::ReportsTest {
 protected:
  Expected<std::shared_ptr<ZipArchive>> Open(const std::string& bytes) const {
    const std::filesystem::path path = Write("outputs.zip", bytes);
    return ZipArchive::Open(path, *OpenRegularFile(path), bytes.size());
  }

  static Expected<std::string> TextOf(ZipArchive& archive, const std::string& name) {
    std::string text;
    std::vector<char> bytes(1000);
    while (true) {
      const auto count = archive.Read(name, text.size(), bytes.data(), bytes.size());
      if (!count) return Unexpected(count.error());
      if (*count == 0) return text;
      text.append(bytes.data(), *count);
    }
  }

  void ExpectText(const std::string& bytes, const std::string& name, const std::string& text) {
    const auto archive = Open(bytes);
    ASSERT_TRUE(archive) << archive.error().message;
    const auto read = TextOf(**archive, name);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, text);
  }

  void ExpectRefused(const std::string& bytes, const std::string& problem) {
    const auto archive = Open(bytes);
    ASSERT_FALSE(archive);
    EXPECT_EQ(archive.error().exit_code, ExitCode::kUsage);
    EXPECT_THAT(archive.error().message, HasSubstr("outputs.zip: "));
    EXPECT_THAT(archive.error().message, HasSubstr(problem));
  }

  void ExpectUnreadable(const std::string& bytes, const std::string& name,
                        const std::string& problem) {
    const auto archive = Open(bytes);
    ASSERT_TRUE(archive) << archive.error().message;
    const auto read = TextOf(**archive, name);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().exit_code, ExitCode::kUsage);
    EXPECT_THAT(read.error().message, HasSubstr("outputs.zip/" + name + ": " + problem));
  }
};

TEST_F(ZipArchiveTest, FilesThatAreNotPackedAreRead) {
  ExpectText(zip::Bytes({{"a.json", SampleText('a'), zip::kStored}}), "a.json", SampleText('a'));
  ExpectText(zip::Bytes({{"a.json", "", zip::kStored}}), "a.json", "");
}

// As programs write them that do not know a file's size before they have packed it.
TEST_F(ZipArchiveTest, FilesWhoseSizesStandBehindThemAreRead) {
  ExpectText(zip::Bytes({{"a.json", SampleText('a'), zip::kDeflated, zip::kSizesBehind},
                         {"b.json", SampleText('b')}}),
             "b.json", SampleText('b'));
  ExpectText(zip::Bytes({{"a.json", SampleText('a'), zip::kDeflated, zip::kSizesBehind}}), "a.json",
             SampleText('a'));
}

// The minizip of Debian 12 does not know where they are.
TEST_F(ZipArchiveTest, SizesOf64BitsAreReadOrRefused) {
  const zip::File file{.name = "a.json", .text = SampleText('a'), .is_zip64 = true};
  const auto archive = Open(zip::Bytes({file, {"b.json", SampleText('b')}}));
  ASSERT_TRUE(archive) << archive.error().message;
  const auto read = TextOf(**archive, "a.json");
  if (read) {
    EXPECT_EQ(*read, SampleText('a'));
  } else {
    EXPECT_THAT(read.error().message,
                HasSubstr("outputs.zip/a.json: cannot be read: its size takes 64 bits; unpack"));
  }
  EXPECT_EQ(TextOf(**archive, "b.json").value_or(""), SampleText('b'));
}

TEST_F(ZipArchiveTest, WhatStandsInFrontOfAnArchiveAndBehindItIsNotMinded) {
  ExpectText("#!/bin/sh\n" + zip::Bytes({{"a.json", "{}"}}, {.comment = "PK, made by hand"}),
             "a.json", "{}");
}

TEST_F(ZipArchiveTest, AnArchiveWithoutFilesHasNoReports) {
  for (const zip::End& end : {zip::End{}, zip::End{.comment = "nothing"}}) {
    const auto archive = Open(zip::Bytes({}, end));
    ASSERT_TRUE(archive) << archive.error().message;
    EXPECT_TRUE((*archive)->reports().empty());
    ExpectUnreadable(zip::Bytes({}, end), "a.json", "cannot be read: No such file");
  }
}

TEST_F(ZipArchiveTest, NamesAreTakenAsTheyAre) {
  const auto archive =
      Open(zip::Bytes({{"/root.json", "1"}, {"../up.json", "2"}, {"\x81.json", "3"}, {"d/", ""}}));
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_THAT((*archive)->reports(),
              ElementsAre(Key("../up.json"), Key("/root.json"), Key("\x81.json")));
  EXPECT_EQ(TextOf(**archive, "/root.json").value_or(""), "1");
}

TEST_F(ZipArchiveTest, ReportsThatAreReadInTurnsGiveEachItsOwnBytes) {
  const auto opened = Open(zip::Bytes({{"a.json", SampleText('a')}, {"b.json", SampleText('b')}}));
  ASSERT_TRUE(opened) << opened.error().message;
  ZipArchive& archive = **opened;
  std::string texts[2];
  for (int turn = 0; turn < 3; ++turn) {
    for (std::string& text : texts) {
      char bytes[40'000];
      const auto count =
          archive.Read(&text == texts ? "a.json" : "b.json", text.size(), bytes, sizeof bytes);
      ASSERT_TRUE(count) << count.error().message;
      text.append(bytes, *count);
    }
  }
  EXPECT_EQ(texts[0], SampleText('a'));
  EXPECT_EQ(texts[1], SampleText('b'));
}

TEST_F(ZipArchiveTest, AReportIsReadFromAnyPlaceAndAsOftenAsOneLikes) {
  const auto opened = Open(zip::Bytes({{"a.json", SampleText('a')}}));
  ASSERT_TRUE(opened) << opened.error().message;
  for (int time = 0; time < 2; ++time) {
    char bytes[10];
    const auto count = (*opened)->Read("a.json", 100'000, bytes, sizeof bytes);
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(std::string(bytes, *count), "end");
    EXPECT_EQ(TextOf(**opened, "a.json").value_or(""), SampleText('a'));
  }
}

// Zip tools that know no archive of more files leave the lowest 16 bits of the count.
TEST_F(ZipArchiveTest, MoreFilesThanTheEndCanCountAreAllFound) {
  std::vector<zip::File> files;
  for (int i = 0; i < 65'539; ++i) files.push_back({std::to_string(i) + ".json", "", zip::kStored});
  for (const std::size_t count : {65'539u, 65'536u, 65'535u}) {
    files.resize(count);
    const auto archive = Open(zip::Bytes(files));
    ASSERT_TRUE(archive) << archive.error().message;
    EXPECT_EQ((*archive)->reports().size(), count);
    EXPECT_EQ(TextOf(**archive, std::to_string(count - 1) + ".json").value_or("none"), "");
  }
}

TEST_F(ZipArchiveTest, AnArchiveWhoseEndCountsOtherFilesIsRefused) {
  const std::vector<zip::File> files{{"a.json", "{}"}, {"b.json", "{}"}};
  ExpectRefused(zip::Bytes(files, {.count = 1}),
                "no zip archive that can be read: its directory has 2 files instead of 1; copy it");
  ExpectRefused(zip::Bytes(files, {.count = 0}), "its directory has 2 files instead of 0");
  ExpectRefused(zip::Bytes(files, {.count = 3}), "its directory has 2 files instead of 3");
}

// A few of its last bytes say nothing that is needed. Whatever is cut off, no report is left out.
TEST_F(ZipArchiveTest, AnArchiveThatWasCutOffIsRefusedOrReadAsAWhole) {
  const std::map<std::string, std::string> texts{{"a.json", SampleText('a')}, {"b.json", "{}"}};
  const std::string whole = zip::Bytes({{"a.json", texts.at("a.json")}, {"b.json", "{}"}});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto archive = Open(whole.substr(0, size));
    if (!archive) {
      EXPECT_THAT(archive.error().message, HasSubstr("no zip archive that can be read: "));
      continue;
    }
    EXPECT_GT(size, whole.size() - 22);
    EXPECT_THAT((*archive)->reports(), ElementsAre(Key("a.json"), Key("b.json"))) << size;
    for (const auto& [name, text] : texts) {
      const auto read = TextOf(**archive, name);
      EXPECT_TRUE(!read || *read == text) << size;
    }
  }
}

// Which of them was meant, nobody knows.
TEST_F(ZipArchiveTest, TwoReportsOfOneNameAreRefused) {
  ExpectRefused(zip::Bytes({{"a.json", "1"}, {"b.json", "2"}, {"a.json", "3"}}),
                "the archive holds two files named a.json; unpack it, if you trust it, and name");
  const auto archive = Open(zip::Bytes({{"log.txt", "1"}, {"a.json", "2"}, {"log.txt", "3"}}));
  EXPECT_TRUE(archive) << archive.error().message;
}

TEST_F(ZipArchiveTest, NamesThatNoFileHasAreRefused) {
  ExpectRefused(zip::Bytes({{std::string("a\0.json", 7), "1"}}), "a file's name has a zero in it");
  ExpectRefused(zip::Bytes({{std::string(4097, 'a'), "1"}}),
                "the archive names a file by more than 4096 bytes");
  const std::string longest = std::string(4091, 'a') + ".json";
  ExpectText(zip::Bytes({{longest, "1"}}), longest, "1");
}

TEST_F(ZipArchiveTest, AnEncryptedReportIsNotTakenForAReport) {
  ExpectUnreadable(zip::Bytes({{"a.json", "{}", zip::kDeflated, zip::kEncrypted}}), "a.json",
                   "cannot be read: it is encrypted; unpack the archive, and name the directory");
}

TEST_F(ZipArchiveTest, AReportThatIsPackedInAnotherWayIsAnError) {
  constexpr std::uint16_t kBzip2 = 12;
  ExpectUnreadable(zip::Bytes({{"a.json", "{}", kBzip2}}), "a.json",
                   "cannot be read: it is packed by method 12, not by deflate; unpack the archive");
}

TEST_F(ZipArchiveTest, AReportThatIsNotThereIsAnError) {
  ExpectUnreadable(zip::Bytes({{"a.json", "{}"}}), "b.json", "cannot be read: No such file");
}

// One letter of it is another, which JSON does not tell.
TEST_F(ZipArchiveTest, AReportWithAnotherChecksumIsAnError) {
  for (const std::uint16_t method : {zip::kStored, zip::kDeflated}) {
    const zip::File file{
        .name = "a.json", .text = SampleText('a'), .method = method, .checksum = 1};
    ExpectUnreadable(zip::Bytes({file}), "a.json",
                     "damaged in its archive: its checksum is wrong; copy the archive again");
  }
}

TEST_F(ZipArchiveTest, AReportOfAnotherSizeIsAnError) {
  zip::File file{.name = "a.json", .text = SampleText('a'), .size = 1000};
  ExpectUnreadable(zip::Bytes({file}), "a.json", "damaged in its archive: its checksum is wrong");
  file.size = 200'000;
  ExpectUnreadable(zip::Bytes({file}), "a.json", "damaged in its archive: it ends too soon");
}

TEST_F(ZipArchiveTest, AReportWhosePackedBytesAreDamagedIsAnError) {
  std::string bytes = zip::Bytes({{"a.json", SampleText('a')}});
  bytes[36] = static_cast<char>(bytes[36] ^ 0xff);  // the first behind its name
  ExpectUnreadable(bytes, "a.json", "damaged in its archive: it cannot be unpacked");
}

TEST_F(ZipArchiveTest, AReportThatIsNotWhatTheArchiveSaysIsAnError) {
  std::string bytes = zip::Bytes({{"a.json", SampleText('a')}});
  bytes[0] = 'X';
  ExpectUnreadable(bytes, "a.json", "damaged in its archive: it is not what the archive says");
}

}  // namespace
}  // namespace leakgate
