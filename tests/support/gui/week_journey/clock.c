/* A wall clock that goes ahead by CLOCK_AHEAD seconds, loaded before a program; what measures how long
   something takes is left alone. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
  const char *seconds = getenv("CLOCK_AHEAD");
  return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, clock, at);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
  return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
