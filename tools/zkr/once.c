/* SPDX-License-Identifier: Apache-2.0 */
#include "once.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zkr/guard.h>

#include "cli.h"
#include "clock.h"
#include "grant.h"
#include "held.h"
#include "interrupt.h"

/* The first line of a record. zkr once claims a path with it. */
static const char mark[] = "zkr once\n";

enum { RECORD_ROOM = 256 };

struct record {
    char text[RECORD_ROOM];
    zkr_node node;
};

static struct {
    int64_t every_ms; /* 0: nothing is recorded */
    int64_t asked_ms; /* when our lock node was made */
    int version;      /* of the existing record */
} once;

/* --- the record --- */

static int read_record(const struct held *h, struct record *r)
{
    int rc = zkr_client_get(h->env->client, h->path, r->text, sizeof(r->text) - 1,
                            &r->node, sizeof(r->node));
    size_t most = sizeof(r->text) - 1;
    if (rc == ZKR_OK) {
        r->text[r->node.length < most ? r->node.length : most] = '\0';
    }
    return rc;
}

/* Returns a number of the record; 0 = it has none. */
static int64_t number(const struct record *r, const char *name)
{
    const char *at = strstr(r->text, name);
    return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/*
 * Returns why the path cannot have a record, or NULL. Servers delete an empty container, and the record with it. They
 * do not report whether a node is a container, but zkr once creates none. So if there is no record, our node must be
 * the first below the path; if it is not, others have used the path.
 */
static const char *fault_of(const struct record *r, const struct held *h)
{
    static const char first[] = "-0000000000";
    size_t length = strlen(h->grant.node), tail = strlen(first);
    if (r->node.length > 0) {
        return strncmp(r->text, mark, strlen(mark)) == 0
                   ? NULL
                   : "it has data of others, which the record would replace";
    }
    return length > tail && strcmp(h->grant.node + length - tail, first) == 0
               ? NULL
               : "others have used it, so servers may remove it when it is empty";
}

/* Replaces the record if its version is unchanged and the lock is still held. */
static int write_record(const struct held *h, const char *text)
{
    struct Stat stat = {.version = 0};
    zoo_op_t op;
    zoo_op_result_t result;
    zoo_set_op_init(&op, h->path, text, (int)strlen(text), once.version, &stat);
    int rc = zkr_ticket_multi(h->grant.ticket, 1, &op, &result,
                              zkr_ticket_valid_for_ms(h->grant.ticket));
    once.version = rc == ZKR_OK ? stat.version : once.version;
    return rc;
}

/* Writes a record of success, dated by the creation of our lock node. */
static void put_success(char *text, size_t size, int64_t token)
{
    (void)snprintf(text, size, "%sasked_ms=%" PRId64 "\ntoken=%" PRId64 "\n", mark,
                   once.asked_ms, token);
}

/* May the request be sent again? Only while the lock is still held. */
static bool may_ask_again(const struct held *h, int rc)
{
    return zkr_err_retriable(rc) && zkr_ticket_valid_for_ms(h->grant.ticket) > 0;
}

/* --- before the command --- */

/*
 * Is the command due? A tenth of the period is left for jobs that start early or late. A record further in the future
 * than a period comes from a wrong clock, and does not count.
 */
static bool is_due(const struct record *r)
{
    int64_t last = number(r, "\nasked_ms="), since = once.asked_ms - last;
    return last == 0 || since >= once.every_ms - once.every_ms / 10 ||
           since < -once.every_ms;
}

struct own {
    const struct held *h;
    zkr_node node;
    int rc;
};

static void *read_own(void *own)
{
    struct own *o = own;
    o->rc = zkr_client_get(o->h->env->client, o->h->grant.node, NULL, 0, &o->node,
                           sizeof(o->node));
    return NULL;
}

/* Reads the record and our lock node concurrently. */
static int read_both(const struct held *h, struct record *r)
{
    struct own own = {.h = h};
    pthread_t thread;
    bool started = pthread_create(&thread, NULL, read_own, &own) == 0;
    int rc = read_record(h, r);
    if (started) {
        (void)pthread_join(thread, NULL);
    }
    if (rc == ZKR_OK && (!started || own.rc != ZKR_OK)) {
        (void)read_own(&own); /* sets zkr_last_error() in this thread */
    }
    rc = rc == ZKR_OK ? own.rc : rc;
    if (rc == ZKR_OK) {
        once.asked_ms = own.node.created_ms;
        once.version = (int)r->node.version;
    }
    return rc;
}

/*
 * Leaves the command out. A record is in the future if the clock of a server was ahead. It would delay the next run by
 * as much, so it is set to the present.
 */
static int leave_undone(const struct held *h, const struct record *r)
{
    char text[RECORD_ROOM];
    int64_t ago_ms = once.asked_ms - number(r, "\nasked_ms=");
    if (ago_ms >= 0) {
        if (h->env->globals.verbose) {
            cli_note("not due: it succeeded at %.1000s %.3f s before this was asked",
                     h->path, (double)ago_ms / 1000);
        }
        return ZKR_OK;
    }
    put_success(text, sizeof(text), number(r, "\ntoken="));
    int rc = write_record(h, text);
    if (rc == ZKR_OK) {
        cli_note(
            "not due: the record of %.1000s was %.3f s in the future, as a server's "
            "clock was ahead; it is set to the present",
            h->path, (double)-ago_ms / 1000);
    }
    return rc;
}

/* Checks whether the command is due. Returns like once_begin(). */
static int check_due(const struct held *h)
{
    struct record r;
    int rc;
    bool due;
    do {
        rc = read_both(h, &r);
        const char *fault = rc == ZKR_OK ? fault_of(&r, h) : NULL;
        if (fault) {
            return cli_fail(CLI_PATH,
                            "%.1000s cannot have a record: %s; use another path",
                            h->path, fault);
        }
        due = rc != ZKR_OK || is_due(&r);
        rc = rc != ZKR_OK ? rc
             : due        ? write_record(h, r.node.length > 0 ? r.text : mark)
                          : leave_undone(h, &r);
    } while (may_ask_again(h, rc));
    return rc == ZKR_OK                                   ? (due ? HELD_START : 0)
           : zkr_ticket_valid_for_ms(h->grant.ticket) > 0 ? cli_fail_rc(rc)
                                                          : HELD_AGAIN;
}

/* Ends the requests of check_due(). */
static void cancel(void *held)
{
    grant_cancel(&((const struct held *)held)->grant);
}

int once_begin(struct held *h, int64_t every_ms)
{
    struct interrupt interrupt;
    once.every_ms = every_ms;
    if (!interrupt_begin(&interrupt, &h->env->signals, NEVER, cancel, h)) {
        return cli_fail_thread();
    }
    int status = check_due(h);
    int signo = interrupt_end(&interrupt);
    return signo ? cli_exit_signal(signo) : status;
}

/* --- after it --- */

int once_end(struct held *h, int status)
{
    struct record r;
    char text[RECORD_ROOM];
    if (once.every_ms == 0 || status != 0 || h->lost || h->ended) {
        return status;
    }
    put_success(text, sizeof(text), (int64_t)h->grant.token);
    int rc = write_record(h, text);
    while (may_ask_again(h, rc)) { /* the record may have been written */
        rc = read_record(h, &r);
        if (rc == ZKR_OK && strcmp(r.text, text) == 0) {
            return status;
        }
        if (rc == ZKR_OK) {
            once.version = (int)r.node.version;
            rc = write_record(h, text);
        }
    }
    if (rc == ZKR_OK) {
        return status;
    }
    h->lost = zkr_ticket_valid_for_ms(h->grant.ticket) == 0;
    return cli_fail(
        h->lost ? CLI_LOST : CLI_INTERNAL,
        "the command succeeded, but that may not be recorded at %.1000s: %s; "
        "it may run again within the period",
        h->path, zkr_last_error()->message);
}
