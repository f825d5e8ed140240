#include "runner/attach/linux/watched_mounts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <unordered_map>

#include "runner/base/linux/local_socket.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

template <std::size_t kCount>
bool IsOneOf(const std::string_view (&kinds)[kCount], std::string_view kind) {
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

bool IsLocalKind(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"ext2",     "ext3",    "ext4", "xfs",   "btrfs",
                                         "overlay",  "tmpfs",   "f2fs", "zfs",   "bcachefs",
                                         "squashfs", "erofs",   "vfat", "exfat", "jfs",
                                         "reiserfs", "iso9660", "udf",  "ramfs"};
  return IsOneOf(kKinds, kind);
}

// Returns whether the file system is made up by the kernel. Nothing is executed there, but other
// mounts lie below.
bool IsKernelsKind(std::string_view kind) {
  constexpr std::string_view kKinds[] = {
      "rootfs",  "proc",       "sysfs",   "devtmpfs",  "devpts",   "cgroup",
      "cgroup2", "securityfs", "debugfs", "tracefs",   "configfs", "bpf",
      "pstore",  "efivarfs",   "mqueue",  "hugetlbfs", "fusectl",  "binfmt_misc"};
  return IsOneOf(kKinds, kind);
}

// The kernel writes a space as \040.
std::string Unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                           is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (is_escape) {
      plain += static_cast<char>(((text[i + 1] - '0') << 6) | ((text[i + 2] - '0') << 3) |
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string_view> SplitAt(char separator, std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool HasOption(std::string_view options, std::string_view option) {
  const std::vector<std::string_view> all = SplitAt(',', options);
  return std::find(all.begin(), all.end(), option) != all.end();
}

// Layers are separated by ':'. A ':' that belongs to a path is written as "\:".
void AddLayers(std::string_view value, std::vector<std::string>& layers) {
  std::string layer;
  const std::string paths = Unescaped(value) + ':';
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] == '\\' && i + 1 < paths.size()) {
      layer += paths[++i];
    } else if (paths[i] != ':') {
      layer += paths[i];
    } else if (!layer.empty()) {  // after "::" come layers that contain data only
      layers.push_back(std::exchange(layer, ""));
    }
  }
}

std::vector<std::string> LayersOf(const Mount& overlay) {
  constexpr std::string_view kKeys[] = {"lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir"};
  std::vector<std::string> layers;
  for (const std::string_view option : SplitAt(',', overlay.super_options)) {
    const std::size_t equals = option.find('=');
    if (equals != std::string_view::npos && IsOneOf(kKeys, option.substr(0, equals))) {
      AddLayers(option.substr(equals + 1), layers);
    }
  }
  return layers;
}

bool IsBelow(const std::string& path, const std::string& place) {
  if (place == "/") return path.starts_with('/');
  return path == place || path.starts_with(place + '/');
}

class Judge {
 public:
  explicit Judge(const std::vector<Mount>& mounts) : mounts_(mounts) {
    for (const Mount& mount : mounts) by_id_.emplace(mount.id, &mount);
  }

  bool MayWatch(const Mount& mount, int depth = 0) const {
    constexpr int kMostDepth = 8;  // overlays on overlays
    if (depth == kMostDepth || !IsLocalKind(mount.kind)) return false;
    if (mount.place == "/") return true;
    return IsWayFree(mount) && !IsOfAUser(mount) &&
           (mount.kind != "overlay" || HasLocalLayers(mount, depth));
  }

 private:
  // A chain of parents is no longer than there are mounts.
  bool IsWayFree(const Mount& mount) const {
    const Mount* at = &mount;
    for (std::size_t steps = 0; steps < mounts_.size(); ++steps) {
      const auto parent = by_id_.find(at->parent);
      if (parent == by_id_.end() || parent->second == at) return true;
      at = parent->second;
      if (!IsLocalKind(at->kind) && !IsKernelsKind(at->kind)) return false;
    }
    return false;
  }

  // A desktop user may have a file mounted as a loop device, without set-uid.
  static bool IsOfAUser(const Mount& mount) {
    constexpr std::string_view kLoop = "7:";
    return mount.device.starts_with(kLoop) && HasOption(mount.options, "nosuid");
  }

  bool HasLocalLayers(const Mount& overlay, int depth) const {
    const std::vector<std::string> layers = LayersOf(overlay);
    return !layers.empty() &&
           std::all_of(layers.begin(), layers.end(), [&](const std::string& layer) {
             const Mount* const mount = MountOf(layer);
             return mount != nullptr && mount != &overlay && MayWatch(*mount, depth + 1);
           });
  }

  // If several are mounted at one place, the last is on top.
  const Mount* MountOf(const std::string& path) const {
    const Mount* found = nullptr;
    for (const Mount& mount : mounts_) {
      const bool is_nearer = found == nullptr || mount.place.size() >= found->place.size();
      if (IsBelow(path, mount.place) && is_nearer) found = &mount;
    }
    return found;
  }

  const std::vector<Mount>& mounts_;
  std::unordered_map<int, const Mount*> by_id_;
};

int MountIdOf(int fd) {
  constexpr std::string_view kKey = "mnt_id:";
  const std::string text = ReadProcFile(fmt::format("/proc/self/fdinfo/{}", fd)).value_or("");
  const std::size_t at = text.find(kKey);
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + kKey.size());
}

}  // namespace

std::vector<Mount> ParseMounts(std::string_view mountinfo) {
  std::istringstream file{std::string(mountinfo)};
  std::vector<Mount> mounts;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string root;
    std::string source;
    Mount mount;
    words >> mount.id >> mount.parent >> mount.device >> root >> mount.place >> mount.options;
    mount.place = Unescaped(mount.place);
    for (std::string word; words >> word && word != "-";) {
    }
    words >> mount.kind >> source >> mount.super_options;
    if (words) mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::vector<Mount> MountsToWatch(const std::vector<Mount>& mounts) {
  const Judge judge(mounts);
  std::vector<Mount> watched;
  std::copy_if(mounts.begin(), mounts.end(), std::back_inserter(watched),
               [&](const Mount& mount) { return judge.MayWatch(mount); });
  return watched;
}

// If another mount covers one, or the path has changed meanwhile, the descriptor belongs to another
// file system.
void SendRootsOfMounts(const UniqueFd& socket) {
  const std::string text = ReadProcFile("/proc/self/mountinfo").value_or("");
  std::set<std::string> sent;  // devices
  for (const Mount& mount : MountsToWatch(ParseMounts(text))) {
    if (sent.contains(mount.device)) continue;
    const UniqueFd root(
        ::open(mount.place.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (!root || MountIdOf(root.get()) != mount.id) continue;
    char byte = 1;
    Packet packet(&byte, sizeof(byte));
    packet.Attach(root.get());
    if (::sendmsg(socket.get(), packet.get(), MSG_NOSIGNAL) < 0) return;
    sent.insert(mount.device);
  }
  const char end = 0;
  (void)::send(socket.get(), &end, sizeof(end), MSG_NOSIGNAL);
}

}  // namespace leakgate
