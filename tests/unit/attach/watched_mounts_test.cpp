#include "runner/attach/linux/watched_mounts.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Watched(std::string_view mountinfo) {
  std::vector<std::string> places;
  for (const Mount& mount : MountsToWatch(ParseMounts(mountinfo))) places.push_back(mount.place);
  return places;
}

TEST(WatchedMountsTest, AreOfLocalFileSystems) {
  EXPECT_THAT(Watched("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
                      "22 27 0:21 / /proc rw - proc proc rw\n"
                      "24 27 0:6 / /dev rw,nosuid - devtmpfs dev rw\n"
                      "25 24 0:23 / /dev/shm rw,nosuid shared:4 master:1 - tmpfs tmpfs rw\n"
                      "40 27 0:50 / /mnt/nfs rw - nfs4 host:/ rw\n"
                      "41 27 0:51 / /mnt/user rw - fuse.sshfs host: rw\n"),
              ElementsAre("/", "/dev/shm"));
}

TEST(WatchedMountsTest, LieBelowNoneThatIsServedByOthers) {
  EXPECT_THAT(Watched("27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                      "41 27 0:51 / /mnt rw - fuse host: rw\n"
                      "42 41 0:52 / /mnt/a rw - tmpfs tmpfs rw\n"
                      "43 42 0:53 / /mnt/a/b rw - ext4 /dev/vdb rw\n"
                      "44 27 0:54 / /net rw - autofs auto rw\n"
                      "45 44 0:55 / /net/x rw - xfs /dev/vdc rw\n"),
              ElementsAre("/"));
}

TEST(WatchedMountsTest, AreOverlaysWhoseLayersAreAllLocal) {
  constexpr std::string_view kRoot =
      "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
      "41 27 0:51 / /home/user/far rw - fuse host: rw\n";
  const auto with = [&](std::string_view options) {
    return Watched(std::string(kRoot) + "50 27 0:60 / /over rw - overlay over rw," +
                   std::string(options) + "\n");
  };
  EXPECT_THAT(with("lowerdir=/a:/b,upperdir=/c,workdir=/d"), ElementsAre("/", "/over"));
  EXPECT_THAT(with("lowerdir+=/a,lowerdir+=/b"), ElementsAre("/", "/over"));
  EXPECT_THAT(with("lowerdir=/a:/home/user/far,upperdir=/c"), ElementsAre("/"));
  EXPECT_THAT(with("lowerdir=/a::/home/user/far/deep"), ElementsAre("/"));
  EXPECT_THAT(with("lowerdir=/a,upperdir=/home/user/far/deep"), ElementsAre("/"));
  EXPECT_THAT(with("lowerdir=/a\\134:b:/home/user/far"), ElementsAre("/")) << "a path with ':'";
  EXPECT_THAT(with("lowerdir=/home\\040user:/home/user/farther"), ElementsAre("/", "/over"));
  EXPECT_THAT(with("lowerdir=l/A:l/B"), ElementsAre("/")) << "nobody knows relative to what";
  EXPECT_THAT(with("index=off"), ElementsAre("/"));
}

TEST(WatchedMountsTest, AreNoOverlaysOfThemselvesOrOfSuchOverlays) {
  EXPECT_THAT(Watched("27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                      "50 27 0:60 / /a rw - overlay over rw,lowerdir=/a/x\n"
                      "51 27 0:61 / /b rw - overlay over rw,lowerdir=/c/x\n"
                      "52 27 0:62 / /c rw - overlay over rw,lowerdir=/b/x\n"
                      "53 27 0:63 / /d rw - overlay over rw,lowerdir=/e\n"
                      "54 27 0:64 / /f rw - overlay over rw,lowerdir=/d/x\n"),
              ElementsAre("/", "/d", "/f"));
}

// As in a container, whose layers cannot be seen from inside.
TEST(WatchedMountsTest, HaveTheRootWhateverItsLayersAre) {
  EXPECT_THAT(Watched("27 1 0:40 / / rw - overlay overlay rw,lowerdir=/var/lib/x:/var/lib/y\n"),
              ElementsAre("/"));
  EXPECT_THAT(Watched("27 1 0:40 / / rw - fuse.overlayfs overlay rw\n"), IsEmpty());
}

TEST(WatchedMountsTest, AreNoLoopDevicesOfADesktopsUser) {
  EXPECT_THAT(Watched("27 1 254:0 / / rw - ext4 /dev/vda rw\n"
                      "60 27 7:0 / /snap/core ro,nodev - squashfs /dev/loop0 ro\n"
                      "61 27 7:1 / /media/user/x rw,nosuid,nodev - ext4 /dev/loop1 rw\n"),
              ElementsAre("/", "/snap/core"));
}

TEST(WatchedMountsTest, AreReadWhateverTheKernelWrites) {
  EXPECT_THAT(Watched(""), IsEmpty());
  EXPECT_THAT(Watched("27\n1 2 3\n27 1 254:0 / / rw -\n\n\\ \\ \\ \\ \\\n"), IsEmpty());
  EXPECT_THAT(Watched("27 27 254:0 / / rw - ext4 /dev/vda rw\n"
                      "28 29 0:5 / /a\\040b rw - tmpfs t rw\n"
                      "29 28 0:6 / /c rw - tmpfs t rw\n"),
              ElementsAre("/"))
      << "parents in a circle";
}

}  // namespace
}  // namespace leakgate
