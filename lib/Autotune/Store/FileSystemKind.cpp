//===- FileSystemKind.cpp - Detects network file systems ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileSystemKind.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <fstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

using namespace tarpon;

namespace {
struct FileSystem {
  uint64_t magic;
  const char *name;
};
} // namespace

static constexpr uint64_t kFuseMagic = 0x65735546;

/// Magic numbers: linux/magic.h, statfs(2) and, for those in neither, the file
/// system's own sources. The list is that of GNU coreutils' remote file systems
/// (src/stat.c, S_IS_REMOTE), and those by which virtual machines share folders
/// with their host.
static constexpr FileSystem kNetworkFileSystems[] = {
    {0x6969, "nfs"},          // NFS_SUPER_MAGIC
    {0x517b, "smb"},          // SMB_SUPER_MAGIC
    {0xff534d42, "cifs"},     // CIFS_SUPER_MAGIC
    {0xfe534d42, "smb2"},     // SMB2_SUPER_MAGIC
    {0x564c, "ncp"},          // NCP_SUPER_MAGIC
    {0x01021997, "9p"},       // V9FS_MAGIC
    {0x5346414f, "afs"},      // AFS_SUPER_MAGIC
    {0x6b414653, "afs"},      // AFS_FS_MAGIC
    {0x73757245, "coda"},     // CODA_SUPER_MAGIC
    {0x00c36400, "ceph"},     // CEPH_SUPER_MAGIC
    {0x7461636f, "ocfs2"},    // OCFS2_SUPER_MAGIC
    {0x0bd00bd0, "lustre"},   // LL_SUPER_MAGIC of Lustre
    {0x01161970, "gfs2"},     // GFS2_MAGIC
    {0x47504653, "gpfs"},     // IBM Spectrum Scale
    {0x19830326, "beegfs"},   // FHGFS_MAGIC of BeeGFS
    {0x20030528, "orangefs"}, // ORANGEFS_SUPER_MAGIC
    {0x013111a8, "ibrix"},    // coreutils
    {0xaad7aaea, "panfs"},    // coreutils
    {0x786f4256, "vboxsf"},   // VBOXSF_SUPER_MAGIC
    {0xbacbacbc, "vmhgfs"},   // VMware's shared folders, coreutils
    {0x7c7c6673, "prl_fs"},   // Parallels' shared folders, coreutils
};

/// FUSE has one magic number for all; only the mount's type tells them apart.
/// These are local. All others may be shared with other machines; a rollback
/// journal is right in either case.
static constexpr llvm::StringLiteral kLocalFuseTypes[] = {
    "fuseblk", // ntfs-3g, exfat
    "fuse.ntfs-3g",   "fuse.exfat",          "fuse.ext2",
    "fuse.lxcfs",     "fuse.fuse-overlayfs", "fuse.overlayfs",
    "fuse.mergerfs",  "fuse.unionfs",        "fuse.bindfs",
    "fuse.encfs",     "fuse.gocryptfs",      "fuse.cryfs",
    "fuse.squashfuse"};

std::string tarpon::classifyFileSystem(uint64_t magic, llvm::StringRef type) {
  for (const FileSystem &known : kNetworkFileSystems)
    if (known.magic == magic)
      return known.name;
  if (magic != kFuseMagic || llvm::is_contained(kLocalFuseTypes, type))
    return "";
  return type.empty() ? "fuse" : type.str();
}

/// The type of the mount with this device: in "36 35 98:0 / /mnt rw - ext3 ..."
/// the third field, and the first behind the dash.
static std::string findMountType(dev_t device) {
  std::string wanted =
      std::to_string(major(device)) + ":" + std::to_string(minor(device));
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    llvm::SmallVector<llvm::StringRef> fields;
    llvm::StringRef(line).split(fields, ' ');
    if (fields.size() > 3 && fields[2] == wanted)
      return llvm::StringRef(line).split(" - ").second.split(' ').first.str();
  }
  return "";
}

static ScopedFileSystemProbe::Probe &getProbe() {
  static ScopedFileSystemProbe::Probe probe;
  return probe;
}

ScopedFileSystemProbe::ScopedFileSystemProbe(Probe probe) {
  getProbe() = std::move(probe);
}

ScopedFileSystemProbe::~ScopedFileSystemProbe() { getProbe() = nullptr; }

std::string tarpon::findNetworkFileSystem(const std::string &path) {
  if (const ScopedFileSystemProbe::Probe &probe = getProbe())
    return probe(path);
  struct statfs system;
  if (statfs(path.c_str(), &system) != 0)
    return "";
  // The value is negative if the field is a signed long of 32 bits.
  auto magic = static_cast<uint32_t>(system.f_type);
  struct stat status;
  std::string type;
  if (magic == kFuseMagic && stat(path.c_str(), &status) == 0)
    type = findMountType(status.st_dev);
  return classifyFileSystem(magic, type);
}
