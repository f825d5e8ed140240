#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runner/process/proc_files.h"

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

TEST(LeftBetweenTest, IsNothingWhereNothingChanged) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{3, "/tmp/a"}}));

  EXPECT_EQ(left.file_descriptors, 0);
  EXPECT_THAT(left.names, IsEmpty());
}

TEST(LeftBetweenTest, CountsAndNamesAnOpenedDescriptor) {
  const ResourcesLeft left = LeftBetween(WithDescriptors({{3, "/tmp/a"}}),
                                         WithDescriptors({{3, "/tmp/a"}, {7, "/tmp/db"}}));

  EXPECT_EQ(left.file_descriptors, 1);
  EXPECT_THAT(left.names, ElementsAre("file descriptor 7: /tmp/db"));
}

TEST(LeftBetweenTest, NamesADescriptorThatLeadsElsewhereWithoutCountingIt) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{3, "/tmp/b"}}));

  EXPECT_EQ(left.file_descriptors, 0);
  EXPECT_THAT(left.names, ElementsAre("file descriptor 3: /tmp/b"));
}

TEST(LeftBetweenTest, DoesNotSetOffWhatWasClosed) {
  const ResourcesLeft left =
      LeftBetween(WithDescriptors({{3, "/tmp/a"}}), WithDescriptors({{4, "/tmp/b"}}));

  EXPECT_EQ(left.file_descriptors, 1);
}

TEST(LeftBetweenTest, CountsAndNamesAThread) {
  const ResourcesLeft left =
      LeftBetween(WithThreads({{10, "main"}}), WithThreads({{10, "main"}, {11, "worker"}}));

  EXPECT_EQ(left.threads, 1);
  EXPECT_THAT(left.names, ElementsAre("thread 11 'worker'"));
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

TEST(ReadResourcesTest, FindsNothingOfAProcessThatHasGone) {
  const ProcessResources resources = ReadResources(0x7fffffff);

  EXPECT_THAT(resources.file_descriptors, IsEmpty());
  EXPECT_THAT(resources.threads, IsEmpty());
}

}  // namespace
}  // namespace leakgate
