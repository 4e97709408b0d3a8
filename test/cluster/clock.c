/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
   A library to preload: moves the clock of the day by the seconds that the file
   /run/clock holds as a 64-bit number, also while programs run. Monotonic clocks
   go on as they are, as they do where somebody sets the time.

   Debian's libfaketime 0.9.10 is not up to it: with monotonic clocks left alone,
   its clock_nanosleep() fails, and with it sleep(1). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t none = 0;
static const volatile int64_t *ahead = &none;

__attribute__((constructor)) static void openClock(void) {
  int file = open("/run/clock", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  void *page = mmap(0, sizeof none, PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED)
    ahead = page;
  close(file);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int moves(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static __typeof__(&clock_gettime) real;
  if (!real)
    real = REAL(clock_gettime);
  int result = real(clock, now);
  if (!result && moves(clock))
    now->tv_sec += *ahead;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *copy) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (copy)
    *copy = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
  return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, now) ? base : 0;
}

/* A point of time as the kernel has it. Where the clock is not named, points of a
   monotonic clock are recognised by being in the first 30 years of the epoch. */
static struct timespec translate(const struct timespec *until) {
  struct timespec result = *until;
  if (result.tv_sec > 1000000000)
    result.tv_sec -= *ahead;
  return result;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *left) {
  struct timespec until = *request;
  if ((flags & TIMER_ABSTIME) && moves(clock))
    until = translate(request);
  return REAL(clock_nanosleep)(clock, flags, &until, left);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict request) {
  struct timespec until = translate(request);
  return REAL(pthread_cond_timedwait)(condition, mutex, &until);
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
                           const struct timespec *restrict request) {
  struct timespec until = moves(clock) ? translate(request) : *request;
  return REAL(pthread_cond_clockwait)(condition, mutex, clock, &until);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict request) {
  struct timespec until = translate(request);
  return REAL(pthread_mutex_timedlock)(mutex, &until);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict request) {
  struct timespec until = translate(request);
  return REAL(sem_timedwait)(semaphore, &until);
}
