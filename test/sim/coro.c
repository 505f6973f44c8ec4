/* SPDX-License-Identifier: Apache-2.0 */
#undef _FORTIFY_SOURCE /* fortified longjmp() refuses another stack */
#include "coro.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "util.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif

/* Annotations for AddressSanitizer. */
#ifdef ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define LEAVE(fake, bottom, size) __sanitizer_start_switch_fiber(fake, bottom, size)
#define ARRIVE(fake, bottom, size) __sanitizer_finish_switch_fiber(fake, bottom, size)
#define CLEAN(stack, size) __asan_unpoison_memory_region(stack, size)
enum { STACK = 1 << 17 };
#else
#define LEAVE(fake, bottom, size) ((void)(fake), (void)(bottom), (void)(size))
#define ARRIVE(fake, bottom, size) LEAVE(fake, bottom, size)
#define CLEAN(stack, size) ((void)(stack), (void)(size))
enum { STACK = 1 << 16 };
#endif

struct coro {
    struct coro *next; /* the next free coroutine */
    ucontext_t first;  /* the beginning of the function */
    jmp_buf
        here; /* where the coroutine continues; a ucontext_t would cost a system call for the signal mask */
    char *stack;
    void (*fn)(void *arg);
    void *arg;
    bool begun, ended;
    int error;  /* its own errno */
    void *fake; /* for AddressSanitizer */
};

static struct coro *spare, *current;
static jmp_buf outside;

/* The program's own stack. */
static void *outside_fake;
static const void *outside_bottom;
static size_t outside_size;

/* --- life --- */

/* Run one function after another while the stack is reused. */
static void run(void)
{
    struct coro *co = current;
    ARRIVE(co->fake, &outside_bottom, &outside_size);
    for (;;) {
        co->fn(co->arg);
        co->ended = true;
        coro_yield();
    }
}

static void prepare(struct coro *co)
{
    if (getcontext(&co->first) != 0) {
        zkt_fail("no context");
    }
    co->first.uc_stack.ss_sp = co->stack;
    co->first.uc_stack.ss_size = STACK;
    co->first.uc_link = NULL;
    co->fake = NULL;
    CLEAN(co->stack, STACK);
    makecontext(&co->first, run, 0);
}

static struct coro *allocate(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct coro *co = calloc(1, sizeof(*co));
    char *room = mmap(NULL, STACK + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (!co || room == MAP_FAILED || mprotect(room, page, PROT_NONE) != 0) {
        zkt_fail("no stack");
    }
    co->stack = room + page;
    return co;
}

struct coro *coro_make(void (*fn)(void *arg), void *arg)
{
    struct coro *co = spare;
    if (co) {
        spare = co->next;
    } else {
        co = allocate();
    }
    co->fn = fn;
    co->arg = arg;
    co->ended = false;
    co->error = 0;
    return co;
}

void coro_free(struct coro *co)
{
    if (!co->ended) {
        co->begun = false; /* the next function begins at the top of the stack */
    }
    co->next = spare;
    spare = co;
}

static void enter(struct coro *co)
{
    bool begun = co->begun;
    if (!begun) {
        prepare(co);
    }
    co->begun = true;
    current = co;
    errno = co->error;
    LEAVE(&outside_fake, co->stack, STACK);
    if (begun) {
        _longjmp(co->here, 1);
    }
    (void)setcontext(&co->first);
}

bool coro_resume(struct coro *co)
{
    int error = errno;
    if (_setjmp(outside) == 0) {
        enter(co);
    }
    ARRIVE(outside_fake, NULL, NULL);
    current = NULL;
    errno = error;
    return !co->ended;
}

void coro_yield(void)
{
    struct coro *co = current;
    co->error = errno;
    LEAVE(&co->fake, outside_bottom, outside_size);
    if (_setjmp(co->here) == 0) {
        _longjmp(outside, 1);
    }
    ARRIVE(co->fake, &outside_bottom, &outside_size);
}
