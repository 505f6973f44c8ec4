/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKC_RECORD_H
#define ZKC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The history of a run: records of one size, appended to one file by all processes with one
 * write() each. What was written survives the SIGKILL of its writer. Times are CLOCK_BOOTTIME
 * in nanoseconds, so those of different processes can be compared.
 */

enum zkc_kind {
    ZKC_NONE,
    /* by clients */
    ZKC_BEGIN,     /* process started */
    ZKC_END,       /* process ends in order */
    ZKC_SELF_KILL, /* about to kill itself */
    ZKC_GRANT, /* acquire: at..until, limit; token, or code; value = sequence number */
    ZKC_FAIL,  /* acquire failed: at..until, code, limit = time-out in ms */
    ZKC_SURE,  /* asked at..until: surely held for value ms */
    ZKC_AGAIN, /* acquired again: code, token, value = token before */
    ZKC_DOWNGRADE,  /* a writer is about to stay as a reader */
    ZKC_DOWNGRADED, /* code, token, value = token before */
    ZKC_LOOKED, /* listed path, at..until: code, token, value = token of its first node */
    ZKC_RELEASE,       /* about to release for good */
    ZKC_RELEASED,      /* code */
    ZKC_LOST,          /* lost callback: token, code = reason */
    ZKC_CANCEL,        /* canceled whoever waits; by a release: a ticket that waits */
    ZKC_BAD_CALL,      /* callback of a ticket out of turn: code = state */
    ZKC_STALLED,       /* the machine let the process sleep from at to until */
    ZKC_STORE_TRY,     /* about to write behind the fence: token, value */
    ZKC_STORE,         /* fenced write, at..until: token, value, code 1 = accepted */
    ZKC_PLAIN,         /* unfenced write, likewise */
    ZKC_GUARD_TRY,     /* about to write under the guard: token, value */
    ZKC_GUARD_OK,      /* done: token, value, limit = zxid of the write */
    ZKC_GUARD_NO,      /* refused or not sent: code */
    ZKC_GUARD_UNKNOWN, /* no answer: code */
    /* by the coordinator */
    ZKC_FAULT,   /* at..until, code = kind of fault */
    ZKC_STOPPED, /* process was stopped at..until */
    ZKC_KILLED, /* process with a guardian has ended by SIGKILL: its promises ended with it */
    ZKC_DELETED,  /* node of token deleted by hand, at..until; code */
    ZKC_REPLACED, /* made again under the same name by another, persistent: token */
    ZKC_PARENT,   /* empty lock path deleted, at..until */
    ZKC_CALM,     /* the nemesis has stopped and all is healed */
    ZKC_KINDS
};

/* What is asked for. */
enum zkc_as {
    ZKC_AS_MUTEX,
    ZKC_AS_READER,
    ZKC_AS_WRITER,
    ZKC_AS_PERMITS, /* of a semaphore */
    ZKC_AS_BOTH,    /* a multi-lock of two paths */
    ZKC_ASES
};

/* Who is asked for, and how its outcome is learnt. */
enum zkc_by {
    ZKC_BY_THREAD,   /* the thread itself, in acquire */
    ZKC_BY_CALLBACK, /* a ticket, by its callback */
    ZKC_BY_WAIT,     /* a ticket without callback, by waiting */
    ZKC_BY_POLL,     /* a ticket, by asking for its state */
    ZKC_BYS
};

/*
 * The paths: one for throughput, one whose holders are there when something happens, one often
 * empty; one that stays with its client for a while; a read-write lock; a semaphore.
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
    uint16_t life; /* of the process, from 1 */
    uint8_t process;
    uint8_t thread;
    uint8_t path;
    uint8_t by;      /* enum zkc_by, of grants, failures and what follows them */
    uint8_t as;      /* enum zkc_as, of the same */
    uint8_t permits; /* of ZKC_AS_PERMITS */
    uint8_t also;    /* of ZKC_AS_BOTH: the second path */
    uint8_t spare[9];
} zkc_record;

_Static_assert(sizeof(zkc_record) == 64, "a record never crosses a page");

/*
 * What a history calls the token: on ZKC_KEPT_PATH many holds share a fencing token, so the number of the hold by its node
 * stands behind it.
 */
static inline int64_t zkc_token(int path, int64_t token, int64_t pass)
{
    enum { PASS_BITS = 16 };
    return path == ZKC_KEPT_PATH ? token << PASS_BITS | pass : token;
}

/** Has the client a guardian? Every other one has. */
static inline bool zkc_is_guarded(int process)
{
    return process % 2 == 1;
}

int64_t zkc_now(void);

/** Open for appending, created if need be. Returns a descriptor or -1. */
int zkc_history_open(const char *file);

/** Append; ends the program when that fails. */
void zkc_put(int fd, const zkc_record *r);

/** Read from record *@from on, at most @room; moves *@from. Returns how many. */
size_t zkc_history_read(int fd, size_t *from, zkc_record *out, size_t room);

/** All records of @file, to be freed, or NULL. */
zkc_record *zkc_history_load(const char *file, size_t *count);

#endif
