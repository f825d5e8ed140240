// Opens files with another user's rights, on one thread, for as long as it lives: root's
// runner looks at files that a process of another user names, and must not open for it what
// it could not open itself.
//
// Does nothing unless this process is root and the user is not: there is nobody else that a
// runner hears. The user's supplementary groups are not known, so they count for nothing.
#pragma once

#include <sys/types.h>

#include <vector>

namespace leakgate {

class FileRights {
 public:
  // From now on this thread opens files as `uid` and `gid` may (setfsuid(2)).
  FileRights(uid_t uid, gid_t gid);
  // And from now on as before.
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

  // False: the kernel did not allow it; open nothing.
  [[nodiscard]] bool hold() const { return hold_; }

 private:
  const bool differ_;
  bool hold_ = true;
  int dumpable_ = 0;
  std::vector<gid_t> groups_;
};

}  // namespace leakgate
