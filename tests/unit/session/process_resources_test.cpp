#include "runner/session/linux/process_resources.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ProcessResources WithDescriptors(std::map<int, std::string> descriptors) {
  ProcessResources resources;
  resources.file_descriptors = std::move(descriptors);
  return resources;
}

ProcessResources WithThreads(std::map<int, std::string> threads) {
  ProcessResources resources;
  resources.threads = std::move(threads);
  return resources;
}

ProcessResources WithMapping(std::uint64_t begin, std::uint64_t end, std::string name = "") {
  ProcessResources resources;
  resources.mappings[begin] = {end, std::move(name)};
  return resources;
}

TEST(LeftBetweenTest, IsNothingWhereNothingChanged) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{3, "/tmp/a"}}), {});

  EXPECT_EQ(left.file_descriptors, 0);
  EXPECT_THAT(left.names, IsEmpty());
}

TEST(LeftBetweenTest, CountsAndNamesAnOpenedDescriptor) {
  const ResourcesLeft left = LeftBetween(WithDescriptors({{3, "/tmp/a"}}),
                                         WithDescriptors({{3, "/tmp/a"}, {7, "/tmp/db"}}), {});

  EXPECT_EQ(left.file_descriptors, 1);
  EXPECT_THAT(left.names, ElementsAre("file descriptor 7: /tmp/db"));
}

TEST(LeftBetweenTest, NamesADescriptorThatLeadsElsewhereWithoutCountingIt) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{3, "/tmp/b"}}), {});

  EXPECT_EQ(left.file_descriptors, 0);
  EXPECT_THAT(left.names, ElementsAre("file descriptor 3: /tmp/b"));
}

TEST(LeftBetweenTest, DoesNotSetOffWhatWasClosed) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{4, "/tmp/b"}}), {});

  EXPECT_EQ(left.file_descriptors, 1);
}

TEST(LeftBetweenTest, CountsAndNamesAThread) {
  const ResourcesLeft left =
      LeftBetween(WithThreads({{10, "main"}}), WithThreads({{10, "main"}, {11, "worker"}}), {});

  EXPECT_EQ(left.threads, 1);
  EXPECT_THAT(left.names, ElementsAre("thread 11 'worker'"));
}

TEST(LeftBetweenTest, CountsTheBytesOfANewMapping) {
  const ResourcesLeft left = LeftBetween({}, WithMapping(0x1000, 0x3000, "/tmp/db"), {});

  EXPECT_EQ(left.mapped_bytes, 0x2000);
  EXPECT_THAT(left.names, ElementsAre("mapping of 8192 B: /tmp/db"));
}

TEST(LeftBetweenTest, CountsOnlyWhatAMappingHasGrownBy) {
  const ResourcesLeft left =
      LeftBetween(WithMapping(0x2000, 0x4000), WithMapping(0x1000, 0x5000), {});

  EXPECT_EQ(left.mapped_bytes, 0x2000);
  EXPECT_THAT(left.names, ElementsAre("mapping of 8192 B"));
}

TEST(LeftBetweenTest, CountsNothingOfAMappingThatWasSplit) {
  ProcessResources after = WithMapping(0x1000, 0x2000);
  after.mappings[0x2000] = {0x4000, ""};

  EXPECT_EQ(LeftBetween(WithMapping(0x1000, 0x4000), after, {}).mapped_bytes, 0);
}

TEST(LeftBetweenTest, CountsNothingOfMappingsThatHoldOthers) {
  EXPECT_EQ(LeftBetween({}, WithMapping(0x1000, 0x3000), {0x1000}).mapped_bytes, 0);
  EXPECT_EQ(LeftBetween({}, WithMapping(0x1000, 0x3000), {0x2fff}).mapped_bytes, 0);
}

TEST(LeftBetweenTest, CountsMappingsBesideOthers) {
  EXPECT_EQ(LeftBetween({}, WithMapping(0x1000, 0x3000), {0xfff, 0x3000}).mapped_bytes, 0x2000);
}

TEST(ReadResourcesTest, FindsAnOpenDescriptor) {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const ProcessResources resources = ReadResources(getpid());
  close(fd);

  EXPECT_THAT(resources.file_descriptors, testing::Contains(Pair(fd, "/dev/null")));
}

TEST(ReadResourcesTest, FindsTheCallingThread) {
  EXPECT_TRUE(ReadResources(getpid()).threads.contains(gettid()));
}

TEST(ReadResourcesTest, FindsANewMappingOfItsSize) {
  const ProcessResources before = ReadResources(getpid());
  constexpr std::size_t kBytes = 16 << 20;
  void* const mapping =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const ProcessResources after = ReadResources(getpid());
  munmap(mapping, kBytes);

  EXPECT_GE(LeftBetween(before, after, {}).mapped_bytes, std::int64_t{kBytes});
}

TEST(ReadResourcesTest, FindsNothingOfAProcessThatHasGone) {
  const ProcessResources resources = ReadResources(0x7fffffff);

  EXPECT_THAT(resources.file_descriptors, IsEmpty());
  EXPECT_THAT(resources.threads, IsEmpty());
  EXPECT_THAT(resources.mappings, IsEmpty());
}

}  // namespace
}  // namespace leakgate
