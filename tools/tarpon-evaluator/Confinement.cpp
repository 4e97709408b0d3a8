//===- Confinement.cpp - Limits of what candidates do -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A filter of system calls, by libseccomp (seccomp(2), seccomp_rule_add(3)).
// All that is not in its lists is allowed: the C library and the loader are
// free to change what they call.
//
//===----------------------------------------------------------------------===//

#include "Confinement.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace tarpon::evaluator {

using runtime::Error;
using runtime::Status;
using runtime::success;

namespace {

/// Calls that are refused whatever their arguments.
constexpr int kRefused[] = {
    // The network, and other processes through sockets
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
    SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
    // New processes, and control of those that there are
    SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork),
    SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo), SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_getfd), SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(kcmp),
    SCMP_SYS(setpriority),
    // Changes to files
    SCMP_SYS(creat), SCMP_SYS(truncate), SCMP_SYS(unlink), SCMP_SYS(unlinkat),
    SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link),
    SCMP_SYS(linkat), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(mknod), SCMP_SYS(mknodat),
    SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown),
    SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(lchown), SCMP_SYS(utime),
    SCMP_SYS(utimes), SCMP_SYS(utimensat), SCMP_SYS(futimesat),
    SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr),
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
    // Shared objects of the system
    SCMP_SYS(shmget), SCMP_SYS(shmat), SCMP_SYS(shmctl), SCMP_SYS(msgget),
    SCMP_SYS(msgsnd), SCMP_SYS(msgrcv), SCMP_SYS(msgctl), SCMP_SYS(semget),
    SCMP_SYS(semop), SCMP_SYS(semctl), SCMP_SYS(mq_open), SCMP_SYS(mq_unlink),
    // Powers of root
    SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot),
    SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(fsopen), SCMP_SYS(open_tree), SCMP_SYS(move_mount),
    SCMP_SYS(reboot), SCMP_SYS(kexec_load), SCMP_SYS(init_module),
    SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(sethostname),
    SCMP_SYS(settimeofday), SCMP_SYS(clock_settime), SCMP_SYS(adjtimex),
    SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid),
    SCMP_SYS(setresuid), SCMP_SYS(setresgid), SCMP_SYS(setgroups),
    SCMP_SYS(capset),
    // Ways around a filter, and parts of the kernel that are rarely needed
    SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(add_key),
    SCMP_SYS(request_key), SCMP_SYS(keyctl), SCMP_SYS(setrlimit)};

/// Calls that are refused if their argument has one of the bits.
struct RefusedBits {
  int call;
  unsigned argument;
  uint64_t bit;
};

constexpr RefusedBits kRefusedBits[] = {
    {SCMP_SYS(open), 1, O_WRONLY},   {SCMP_SYS(open), 1, O_RDWR},
    {SCMP_SYS(open), 1, O_CREAT},    {SCMP_SYS(open), 1, O_TRUNC},
    {SCMP_SYS(openat), 2, O_WRONLY}, {SCMP_SYS(openat), 2, O_RDWR},
    {SCMP_SYS(openat), 2, O_CREAT},  {SCMP_SYS(openat), 2, O_TRUNC}};

/// Calls whose arguments lie in memory, where a filter cannot look: the C
/// library takes the older ones if these do not exist.
constexpr int kMissing[] = {SCMP_SYS(clone3), SCMP_SYS(openat2)};

/// Gathers rules until one cannot be added.
class Filter {
public:
  Filter() : context(seccomp_init(SCMP_ACT_ALLOW), seccomp_release) {
    if (!context)
      code = -ENOMEM;
  }

  void refuse(int call, int error = EPERM) {
    if (!code)
      keep(seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(error), call, 0));
  }

  void refuse(int call, scmp_arg_cmp argument) {
    if (!code)
      keep(seccomp_rule_add(context.get(), SCMP_ACT_ERRNO(EPERM), call, 1,
                            argument));
  }

  /// Filters all threads from now on; returns 0 or an errno.
  int apply() {
    // A tree in place of a list; all threads, of which one waits for the
    // parent.
    constexpr uint32_t kTree = 2;
    if (!code)
      code = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, kTree);
    if (!code)
      code = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_TSYNC, 1);
    if (!code)
      code = seccomp_load(context.get());
    return -code;
  }

private:
  /// A call that this architecture does not have needs no rule.
  void keep(int result) {
    if (result != -EDOM && result != -EOPNOTSUPP)
      code = result;
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context;
  int code = 0;
};

} // namespace

/// An allocation beyond what the machine has fails at once, and does not drive
/// other programs out of memory first.
static void limitMemory() {
  auto bytes = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES)) *
               static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, bytes);
  setrlimit(RLIMIT_AS, &limit);
}

Status confineProcess() {
  limitMemory();
  Filter filter;
  for (int call : kRefused)
    filter.refuse(call);
  for (const RefusedBits &each : kRefusedBits)
    filter.refuse(each.call,
                  {each.argument, SCMP_CMP_MASKED_EQ, each.bit, each.bit});
  for (int call : kMissing)
    filter.refuse(call, ENOSYS);
  // Threads are no processes, and a process may abort itself.
  filter.refuse(SCMP_SYS(clone), {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0});
  auto self = static_cast<scmp_datum_t>(getpid());
  filter.refuse(SCMP_SYS(tgkill), {0, SCMP_CMP_NE, self, 0});
  // Limits may be read, not set.
  filter.refuse(SCMP_SYS(prlimit64), {2, SCMP_CMP_NE, 0, 0});
  if (int code = filter.apply())
    return Error{"candidates are not confined: " +
                 std::generic_category().message(code)};
  return success();
}

} // namespace tarpon::evaluator
