/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_RECORD_H
#define ZKC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The history of a run: records of one size. All processes append to one file, each record by one write(). A record
 * survives a SIGKILL of its writer. Times are CLOCK_BOOTTIME in nanoseconds, so times of different processes can be
 * compared.
 */

enum zkc_kind {
    ZKC_NONE,
    /* Written by clients. */
    ZKC_BEGIN,     /* process started */
    ZKC_END,       /* process is about to end in order */
    ZKC_SELF_KILL, /* about to kill itself */
    ZKC_GRANT, /* acquire: at..until, limit; token, or code; value = sequence number */
    ZKC_FAIL,  /* acquire failed: at..until, code, limit = timeout in ms */
    ZKC_SURE,  /* queried at..until: surely held for value ms */
    ZKC_AGAIN, /* acquired again: code, token, value = token before */
    ZKC_DOWNGRADE,  /* a writer is about to become a reader */
    ZKC_DOWNGRADED, /* code, token, value = token before */
    ZKC_LOOKED, /* listed path, at..until: code, token, value = token of its first node */
    ZKC_RELEASE,       /* about to release for good */
    ZKC_RELEASED,      /* code */
    ZKC_LOST,          /* lost callback: token, code = reason */
    ZKC_CANCEL,        /* canceled all waiters, or released a waiting ticket */
    ZKC_BAD_CALL,      /* unexpected callback of a ticket: code = state */
    ZKC_STALLED,       /* the machine let the process sleep from at to until */
    ZKC_STORE_TRY,     /* about to do a fenced write: token, value */
    ZKC_STORE,         /* fenced write, at..until: token, value, code 1 = accepted */
    ZKC_PLAIN,         /* unfenced write: the same fields */
    ZKC_GUARD_TRY,     /* about to do a guarded write: token, value */
    ZKC_GUARD_OK,      /* done: token, value, limit = zxid of the write */
    ZKC_GUARD_NO,      /* refused or not sent: code */
    ZKC_GUARD_UNKNOWN, /* no answer: code */
    /* Written by the coordinator. */
    ZKC_FAULT,   /* at..until, code = kind of fault */
    ZKC_STOPPED, /* process was stopped at..until */
    ZKC_KILLED,  /* SIGKILL ended a process with a guardian, and with it its promises */
    ZKC_DELETED, /* node of token deleted from outside, at..until; code */
    ZKC_REPLACED, /* node created again by another, same name, persistent: token */
    ZKC_PARENT,   /* empty lock path deleted, at..until */
    ZKC_CALM,     /* the nemesis has stopped and all is healed */
    ZKC_KINDS
};

/* The kind of the wanted lock. */
enum zkc_as {
    ZKC_AS_MUTEX,
    ZKC_AS_READER,
    ZKC_AS_WRITER,
    ZKC_AS_PERMITS, /* permits of a semaphore */
    ZKC_AS_BOTH,    /* a multi-lock of two paths */
    ZKC_ASES
};

/* How a lock is requested, and how the outcome is learned. */
enum zkc_by {
    ZKC_BY_THREAD,   /* by acquire */
    ZKC_BY_CALLBACK, /* by a ticket with a callback */
    ZKC_BY_WAIT,     /* by a ticket without a callback, which is waited for */
    ZKC_BY_POLL,     /* by a ticket whose state is polled */
    ZKC_BYS
};

/*
 * The paths: one for throughput; one that is usually held when a fault comes; one that is often empty; one whose node
 * the client keeps for a while; a read-write lock; a semaphore.
 */
enum {
    ZKC_SHORT_PATH,
    ZKC_LONG_PATH,
    ZKC_RARE_PATH,
    ZKC_KEPT_PATH,
    ZKC_RW_PATH,
    ZKC_PERMITS_PATH,
    ZKC_PATHS
};

enum { ZKC_PROCESSES = 6, ZKC_THREADS = 4, ZKC_PERMITS_MAX = 3, ZKC_SESSION_MS = 2000 };

typedef struct zkc_record {
    int64_t at;
    int64_t until;
    int64_t token;
    int64_t value;
    int64_t limit;
    int32_t code;
    uint16_t kind;
    uint16_t life; /* number of the life of the process, from 1 */
    uint8_t process;
    uint8_t thread;
    uint8_t path;
    uint8_t by;      /* enum zkc_by; of grants, failures and their follow-up records */
    uint8_t as;      /* enum zkc_as; of the same records */
    uint8_t permits; /* number of permits, of ZKC_AS_PERMITS */
    uint8_t also;    /* the second path, of ZKC_AS_BOTH */
    uint8_t spare[9];
} zkc_record;

_Static_assert(sizeof(zkc_record) == 64, "a record never crosses a page");

/*
 * The token in a history: on ZKC_KEPT_PATH many holds share a fencing token, so the number of the hold on its node is
 * appended.
 */
static inline int64_t zkc_token(int path, int64_t token, int64_t pass)
{
    enum { PASS_BITS = 16 };
    return path == ZKC_KEPT_PATH ? token << PASS_BITS | pass : token;
}

/** Returns whether the client has a guardian. Every other client has one. */
static inline bool zkc_is_guarded(int process)
{
    return process % 2 == 1;
}

int64_t zkc_now(void);

/** Open for appending, and create the file if necessary. Returns a descriptor or -1. */
int zkc_history_open(const char *file);

/** Append a record. If that fails, end the program. */
void zkc_put(int fd, const zkc_record *r);

/** Read at most @room records from record *@from on, and advance *@from. Returns how many it read. */
size_t zkc_history_read(int fd, size_t *from, zkc_record *out, size_t room);

/** Returns all records of @file, to be freed, or NULL. */
zkc_record *zkc_history_load(const char *file, size_t *count);

#endif
