/* The loop of a native session: one byte in, one call, the same byte out.
 *
 * An evaluator compiles this file together with glue of its own, which defines evolve_call, and the candidate's object, into one shared
 * library. The segment begins with a block of 64 numbers: how many pointers and how many numbers a call has, 31 places for pointers (as offsets
 * in bytes from the segment's beginning), 31 for numbers. The judge writes it while this process is stopped or waits.
 *
 * Invariant: before the first call this process has given up every system call but those that the loop needs; another one ends it, and so
 * does reading the processor's clock on x86 where the system can see to that. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#define EVOLVE_MOST 31

void evolve_call(void **pointers, const long *numbers);

struct evolve_block {
  long pointer_count, number_count;
  long offsets[EVOLVE_MOST];
  long numbers[EVOLVE_MOST];
};

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#ifdef __x86_64__
#define EVOLVE_MACHINE AUDIT_ARCH_X86_64
#else
#define EVOLVE_MACHINE AUDIT_ARCH_AARCH64
#endif
#define EVOLVE_ALLOW(call)                              \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),    \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int evolve_confined(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EVOLVE_MACHINE, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      EVOLVE_ALLOW(SYS_read),
      EVOLVE_ALLOW(SYS_write),
      EVOLVE_ALLOW(SYS_futex),
      EVOLVE_ALLOW(SYS_rt_sigreturn),
      EVOLVE_ALLOW(SYS_exit),
      EVOLVE_ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
#ifdef __x86_64__
  /* The processor's clock ends the process, wherever the instruction that reads it is found. Where that cannot be had, nothing else changes. */
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}
#else
static int evolve_confined(void) { return 1; }
#endif

/* Until the requests end; gives the process's exit code. */
__attribute__((visibility("default"))) int evolve_loop(int requests, int replies, char *segment) {
  struct evolve_block block;
  void *pointers[EVOLVE_MOST];
  unsigned char mark;
  if (!evolve_confined()) return 3;
  for (;;) {
    ssize_t got = read(requests, &mark, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) return 0;
    memcpy(&block, segment, sizeof block);
    for (long i = 0; i < EVOLVE_MOST; i++) pointers[i] = i < block.pointer_count ? segment + block.offsets[i] : 0;
    evolve_call(pointers, block.numbers);
    while (write(replies, &mark, 1) < 0 && errno == EINTR) continue;
  }
}
