#include "runner/util/linux/file_rights.h"

#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace leakgate {
namespace {

// The C library's function changes the groups of all threads; this one of the caller's alone.
void SetGroupsOfThread(const std::vector<gid_t>& groups) {
  ::syscall(SYS_setgroups, groups.size(), groups.data());
}

constexpr unsigned kAsk = static_cast<unsigned>(-1);  // is no user: tells, and changes nothing

}  // namespace

FileRights::FileRights(uid_t uid, gid_t gid) : differ_(::geteuid() == 0 && uid != 0) {
  if (!differ_) return;
  // The kernel forbids others to look into a process whose rights differ.
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  const int count = ::getgroups(0, nullptr);
  groups_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count > 0 && ::getgroups(count, groups_.data()) != count) groups_.clear();
  SetGroupsOfThread({});
  ::setfsgid(gid);
  ::setfsuid(uid);  // last: takes root's rights to files away
  hold_ =
      static_cast<uid_t>(::setfsuid(kAsk)) == uid && static_cast<gid_t>(::setfsgid(kAsk)) == gid;
}

FileRights::~FileRights() {
  if (!differ_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
  SetGroupsOfThread(groups_);
  ::prctl(PR_SET_DUMPABLE, dumpable_);
}

}  // namespace leakgate
