// Functions of glibc under the versions that glibc 2.28 has, so that what is linked here runs there too.
//
// The linker binds a call to the newest version of a function that the glibc of this machine has. An older
// glibc does not have that version, although it has the function: dlsym moved to libc.so with 2.34, stat is a
// function since 2.33. A hidden definition in each program and library comes first, and calls the version
// that all of them have.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#if defined(__x86_64__)
#define OPGATE_OLDEST "GLIBC_2.2.5"
#define OPGATE_OLDEST_DLINFO "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define OPGATE_OLDEST "GLIBC_2.17"
#define OPGATE_OLDEST_DLINFO OPGATE_OLDEST
#endif

#define OPGATE_HIDDEN extern "C" __attribute__((visibility("hidden")))

// Declares old_NAME, which is `version` of NAME, and defines NAME as a call of it.
#define OPGATE_VERSION(version, result, name, parameters, arguments) \
  extern "C" result old_##name parameters;                           \
  __asm__(".symver old_" #name "," #name "@" version);               \
  OPGATE_HIDDEN result opgate_##name parameters __asm__(#name);      \
  result opgate_##name parameters { return old_##name arguments; }
#define OPGATE_OLD(...) OPGATE_VERSION(OPGATE_OLDEST, __VA_ARGS__)

namespace {

using Routine = void (*)();

// A function that a newer C library has, or null.
template <typename Function>
Function* newer(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

// One C library since 2.34.
OPGATE_OLD(void*, dlopen, (const char* file, int mode), (file, mode))
OPGATE_OLD(int, dlclose, (void* library), (library))
OPGATE_OLD(void*, dlsym, (void* library, const char* name), (library, name))
OPGATE_OLD(char*, dlerror, (), ())
OPGATE_VERSION(OPGATE_OLDEST_DLINFO, int, dlinfo, (void* library, int request, void* info),
               (library, request, info))
OPGATE_OLD(int, dladdr, (const void* address, Dl_info* info), (address, info))
OPGATE_OLD(int, pthread_once, (pthread_once_t * once, Routine routine), (once, routine))
OPGATE_OLD(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
OPGATE_OLD(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* old), (how, set, old))
OPGATE_OLD(int, pthread_create,
           (pthread_t * thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument),
           (thread, attributes, start, argument))
OPGATE_OLD(int, pthread_join, (pthread_t thread, void** result), (thread, result))
OPGATE_OLD(int, pthread_detach, (pthread_t thread), (thread))
OPGATE_OLD(int, pthread_key_create, (pthread_key_t * key, void (*destructor)(void*)), (key, destructor))
OPGATE_OLD(int, pthread_key_delete, (pthread_key_t key), (key))
OPGATE_OLD(void*, pthread_getspecific, (pthread_key_t key), (key))
OPGATE_OLD(int, pthread_setspecific, (pthread_key_t key, const void* value), (key, value))
OPGATE_OLD(int, __pthread_key_create, (pthread_key_t * key, void (*destructor)(void*)), (key, destructor))
OPGATE_OLD(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
OPGATE_OLD(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
OPGATE_OLD(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))

// Versions of 2.29 that do not set errno.
OPGATE_OLD(double, exp, (double x), (x))
OPGATE_OLD(double, exp2, (double x), (x))
OPGATE_OLD(double, log, (double x), (x))
OPGATE_OLD(double, log2, (double x), (x))
OPGATE_OLD(double, pow, (double x, double y), (x, y))

// Functions since 2.33; before, a header called these with the version of the structure.
#if defined(__x86_64__)
constexpr int kVersionOfStat = 1;
#else
constexpr int kVersionOfStat = 0;
#endif
#define OPGATE_OLD_STAT(name, old, Subject)                                            \
  extern "C" int old_##name(int version, Subject subject, struct stat* facts);         \
  __asm__(".symver old_" #name "," #old "@" OPGATE_OLDEST);                            \
  OPGATE_HIDDEN int opgate_##name(Subject subject, struct stat* facts) __asm__(#name); \
  int opgate_##name(Subject subject, struct stat* facts) {                             \
    return old_##name(kVersionOfStat, subject, facts);                                 \
  }
OPGATE_OLD_STAT(stat, __xstat, const char*)
OPGATE_OLD_STAT(lstat, __lxstat, const char*)
OPGATE_OLD_STAT(fstat, __fxstat, int)
OPGATE_OLD_STAT(fstat64, __fxstat64, int)

// What 2.28 does not have at all.

// libstdc++ counts references without atomic instructions while this is not zero, since 2.32.
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;
char __libc_single_threaded = 0;

// Since 2.30. Waits until an instant of `clock`; the clock of a condition is the realtime clock by default.
OPGATE_HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                         const timespec* until) {
  constexpr long kNanoseconds = 1'000'000'000;
  timespec now{};
  timespec end{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) {
    end.tv_nsec += kNanoseconds;
    --end.tv_sec;
  } else if (end.tv_nsec >= kNanoseconds) {
    end.tv_nsec -= kNanoseconds;
    ++end.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &end);
}

// Since 2.36.
OPGATE_HIDDEN unsigned arc4random() noexcept {
  unsigned number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
  }
  return number;
}

// Since 2.33. The older function counts modulo 2^32 bytes, as do differences of its numbers.
OPGATE_HIDDEN struct mallinfo2 mallinfo2() noexcept {
  if (auto* const present = newer<struct mallinfo2()>("mallinfo2")) return present();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo();
#pragma GCC diagnostic pop
  struct mallinfo2 facts {};
  facts.uordblks = static_cast<unsigned>(old.uordblks);
  facts.hblkhd = static_cast<unsigned>(old.hblkhd);
  return facts;
}

// Since 2.29. Without it a program cannot be started in another folder: callers must read the result.
OPGATE_HIDDEN int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t* actions,
                                                       const char* folder) noexcept {
  auto* const present =
      newer<int(posix_spawn_file_actions_t*, const char*)>("posix_spawn_file_actions_addchdir_np");
  return present != nullptr ? present(actions, folder) : ENOSYS;
}

// Since 2.32.
OPGATE_HIDDEN const char* sigabbrev_np(int signal) noexcept {
  if (auto* const present = newer<const char*(int)>("sigabbrev_np")) return present(signal);
  switch (signal) {
    case SIGABRT:
      return "ABRT";
    case SIGALRM:
      return "ALRM";
    case SIGBUS:
      return "BUS";
    case SIGFPE:
      return "FPE";
    case SIGHUP:
      return "HUP";
    case SIGILL:
      return "ILL";
    case SIGINT:
      return "INT";
    case SIGKILL:
      return "KILL";
    case SIGPIPE:
      return "PIPE";
    case SIGQUIT:
      return "QUIT";
    case SIGSEGV:
      return "SEGV";
    case SIGSYS:
      return "SYS";
    case SIGTERM:
      return "TERM";
    case SIGTRAP:
      return "TRAP";
    case SIGXCPU:
      return "XCPU";
    case SIGXFSZ:
      return "XFSZ";
    default:
      return "?";
  }
}
OPGATE_HIDDEN const char* sigdescr_np(int signal) noexcept { return strsignal(signal); }
