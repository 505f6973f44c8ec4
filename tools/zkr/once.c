/* SPDX-License-Identifier: Apache-2.0 */
#include "once.h"

#include <pthread.h>
#include <string.h>

#include <zkr/guard.h>

#include "cli.h"
#include "clock.h"
#include "grant.h"
#include "held.h"
#include "interrupt.h"
#include "once_record.h"

struct record {
    char text[ONCE_RECORD_ROOM];
    zkr_node node;
};

static struct {
    int64_t every_ms; /* 0: zkr records nothing */
    int64_t asked_ms; /* when our lock node was created */
    int version;      /* version of the existing record */
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

/* Returns whether the request may be sent again. It may only while the lock is still held. */
static bool may_ask_again(const struct held *h, int rc)
{
    return zkr_err_retriable(rc) && zkr_ticket_valid_for_ms(h->grant.ticket) > 0;
}

/* --- before the command --- */

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
        (void)read_own(&own); /* this sets zkr_last_error() in this thread */
    }
    rc = rc == ZKR_OK ? own.rc : rc;
    if (rc == ZKR_OK) {
        once.asked_ms = own.node.created_ms;
        once.version = (int)r->node.version;
    }
    return rc;
}

/*
 * Skips the command. If the clock of a server was ahead, the record is in the future. It would delay the next run, so
 * it is set to the present.
 */
static int leave_undone(const struct held *h, const struct record *r, bool ahead)
{
    char text[ONCE_RECORD_ROOM];
    int64_t ago_ms = once.asked_ms - once_record_asked_ms(r->text);
    if (!ahead) {
        if (h->env->globals.verbose) {
            cli_note(
                "not due: the command succeeded at %.1000s %.3f s before this request",
                h->path, (double)ago_ms / 1000);
        }
        return ZKR_OK;
    }
    once_record_write(text, once.asked_ms, once_record_token(r->text));
    int rc = write_record(h, text);
    if (rc == ZKR_OK) {
        cli_note("not due: the record of %.1000s was %.3f s in the future, because the "
                 "clock of a server was ahead; the record is now set to the present",
                 h->path, (double)-ago_ms / 1000);
    }
    return rc;
}

/* Checks whether the command is due. Returns the same as once_begin(). */
static int check_due(const struct held *h)
{
    struct record r;
    enum once_due due = ONCE_DUE;
    int rc;
    do {
        rc = read_both(h, &r);
        if (rc == ZKR_OK) {
            const char *fault = once_record_fault(r.text, r.node.length, h->grant.node);
            if (fault) {
                return cli_fail(CLI_PATH,
                                "%.1000s cannot have a record: %s; use another path",
                                h->path, fault);
            }
            due = once_record_due(r.text, once.asked_ms, once.every_ms);
            rc = due == ONCE_DUE
                     ? write_record(h, r.node.length > 0 ? r.text : once_mark)
                     : leave_undone(h, &r, due == ONCE_AHEAD);
        }
    } while (may_ask_again(h, rc));
    return rc == ZKR_OK ? (due == ONCE_DUE ? HELD_START : 0)
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

/* --- after the command --- */

int once_end(struct held *h, int status)
{
    struct record r;
    char text[ONCE_RECORD_ROOM];
    if (once.every_ms == 0 || status != 0 || h->lost || h->ended) {
        return status;
    }
    once_record_write(text, once.asked_ms, (int64_t)h->grant.token);
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
    return cli_fail(h->lost ? CLI_LOST : CLI_INTERNAL,
                    "the command succeeded, but the success might not be recorded at "
                    "%.1000s: %s; the command may run again within the period",
                    h->path, zkr_last_error()->message);
}
