/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zkr/error.h>

#include "event.h"

struct tale {
    FILE *out;
    const zkc_record *all;
    size_t n;
};

static const char *path_name(int path)
{
    static const char *const names[ZKC_PATHS] = {"short", "long", "rare",
                                                 "kept",  "rw",   "permits"};
    return path < ZKC_PATHS ? names[path] : "?";
}

static void
begin(const struct tale *t, const char *op, const zkc_record *r, int64_t returned)
{
    zkt_event(t->out, op, r->at, returned);
    zkt_event_by(t->out, r->process, r->life, r->thread);
    zkt_event_number(t->out, "hold", r->token);
}

/*
 * Returns the next record of these kinds by the same thread about the same hold, or NULL if the process ended before.
 */
static const zkc_record *answer(const struct tale *t,
                                const zkc_record *r,
                                enum zkc_kind least,
                                enum zkc_kind most)
{
    for (const zkc_record *s = r + 1; s < t->all + t->n; s++) {
        if (s->kind >= least && s->kind <= most && s->token == r->token &&
            s->process == r->process && s->life == r->life && s->thread == r->thread) {
            return s;
        }
    }
    return NULL;
}

static void tell_grant(const struct tale *t, const zkc_record *r)
{
    static const char *const kinds[ZKC_ASES] = {[ZKC_AS_MUTEX] = "mutex",
                                                [ZKC_AS_READER] = "reader",
                                                [ZKC_AS_WRITER] = "writer",
                                                [ZKC_AS_PERMITS] = "permits",
                                                [ZKC_AS_BOTH] = "mutex"};
    if (r->code != ZKR_OK) {
        return; /* lost before the token was read */
    }
    begin(t, "acquire", r, r->until);
    zkt_event_paths(t->out, path_name(r->path),
                    r->as == ZKC_AS_BOTH ? path_name(r->also) : NULL);
    zkt_event_text(t->out, "kind", kinds[r->as]);
    zkt_event_number(t->out, "token", r->token);
    if (r->value >= 0) {
        zkt_event_number(t->out, "seq", r->value);
    }
    if (r->as == ZKC_AS_PERMITS) {
        zkt_event_number(t->out, "permits", r->permits);
        zkt_event_number(t->out, "of", ZKC_PERMITS_MAX);
    }
    zkt_event_end(t->out);
}

/* Tells of a re-entry, or of a completed downgrade. */
static void tell_token(const struct tale *t, const char *op, const zkc_record *r)
{
    if (r->code == ZKR_ESESSION) {
        return;
    }
    zkt_event(t->out, op, r->at, r->until > r->at ? r->until : r->at);
    zkt_event_by(t->out, r->process, r->life, r->thread);
    zkt_event_number(t->out, "hold", r->value);
    zkt_event_number(t->out, "token", r->code == ZKR_OK ? r->token : 0);
    zkt_event_end(t->out);
}

/* Tells of a write. @r was recorded before the write, and @done contains the outcome. */
static void tell_write(const struct tale *t,
                       const char *on,
                       const zkc_record *r,
                       const zkc_record *done)
{
    const bool known = done != NULL && done->kind != ZKC_GUARD_UNKNOWN;
    begin(t, "write", r, known ? done->until : 0);
    zkt_event_text(t->out, "path", path_name(r->path));
    zkt_event_text(t->out, "on", on);
    zkt_event_number(t->out, "value", r->value);
    if (known) {
        const bool yes =
            done->kind == ZKC_GUARD_OK || (done->kind == ZKC_STORE && done->code == 1);
        zkt_event_text(t->out, "done", yes ? "yes" : "no");
        zkt_event_number(t->out, "zxid", done->limit);
    }
    zkt_event_end(t->out);
}

static void tell_look(const struct tale *t, const zkc_record *r)
{
    if (r->code == ZKR_OK) {
        begin(t, "look", r, r->until);
        zkt_event_text(t->out, "path", path_name(r->path));
        zkt_event_number(t->out, "first", r->value);
        zkt_event_end(t->out);
    }
}

/* Tells of an operation that has no further fields. */
static void tell_plain(const struct tale *t,
                       const char *op,
                       const zkc_record *r,
                       const zkc_record *done)
{
    begin(t, op, r, done != NULL ? done->until > r->at ? done->until : done->at : 0);
    zkt_event_end(t->out);
}

/* Tells of a fault that the coordinator injected. */
static void tell_fault(const struct tale *t, const char *op, const zkc_record *r)
{
    zkt_event(t->out, op, r->at, r->until);
    zkt_event_text(t->out, "path", path_name(r->path));
    zkt_event_number(t->out, r->kind == ZKC_REPLACED ? "token" : "hold", r->token);
    zkt_event_end(t->out);
}

static bool is_of_hold(const zkc_record *r)
{
    return r->kind != ZKC_GRANT && r->kind != ZKC_PARENT && r->kind != ZKC_KILLED;
}

static void tell(const struct tale *t, const zkc_record *r)
{
    if (r->token == 0 && is_of_hold(r)) {
        return; /* the hold was lost when acquire returned */
    }
    switch (r->kind) {
    case ZKC_GRANT:
        tell_grant(t, r);
        break;
    case ZKC_SURE:
        begin(t, "sure", r, r->until);
        zkt_event_number(t->out, "for", r->value * 1000000);
        zkt_event_end(t->out);
        break;
    case ZKC_AGAIN:
        tell_token(t, "again", r);
        break;
    case ZKC_DOWNGRADE:
        tell_plain(t, "downgrade", r, answer(t, r, ZKC_DOWNGRADED, ZKC_DOWNGRADED));
        break;
    case ZKC_DOWNGRADED:
        tell_token(t, "downgraded", r);
        break;
    case ZKC_LOOKED:
        tell_look(t, r);
        break;
    case ZKC_RELEASE:
        tell_plain(t, "release", r, answer(t, r, ZKC_RELEASED, ZKC_RELEASED));
        break;
    case ZKC_LOST:
        tell_plain(t, "lost", r, r);
        break;
    case ZKC_STORE_TRY:
        tell_write(t, "store", r, answer(t, r, ZKC_STORE, ZKC_STORE));
        break;
    case ZKC_GUARD_TRY:
        tell_write(t, "counter", r, answer(t, r, ZKC_GUARD_OK, ZKC_GUARD_UNKNOWN));
        break;
    case ZKC_DELETED:
        tell_fault(t, "deleted", r);
        break;
    case ZKC_REPLACED:
        tell_fault(t, "foreign", r);
        break;
    case ZKC_PARENT:
        tell_fault(t, "emptied", r);
        break;
    case ZKC_KILLED:
        tell_plain(t, "killed", r, r);
        break;
    default:
        break;
    }
}

static void tell_final(FILE *out, const struct zkc_expected *expected)
{
    const int64_t now = zkc_now();
    for (int i = 0; i < 2 * ZKC_PATHS; i++) {
        const int path = i / 2;
        const bool store = i % 2 == 1;
        zkt_event(out, "final", now, now);
        zkt_event_text(out, "path", path_name(path));
        zkt_event_text(out, "on", store ? "store" : "counter");
        zkt_event_number(out, "value",
                         store ? expected->paths[path].store_value
                               : expected->paths[path].counter);
        zkt_event_end(out);
    }
}

bool zkc_history_tell(const char *file,
                      const zkc_record *all,
                      size_t n,
                      const struct zkc_expected *expected)
{
    const struct tale t = {.out = fopen(file, "we"), .all = all, .n = n};
    if (t.out == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        tell(&t, &all[i]);
    }
    if (expected->ended) {
        tell_final(t.out, expected);
    }
    return fclose(t.out) == 0;
}

bool zkc_history_judge(const char *file, struct zkc_verdict *v)
{
    static const char word[] = "VIOLATION ";
    char command[512];
    char line[1024];
    if (access(ZKT_JUDGE, X_OK) != 0) {
        return false;
    }
    (void)snprintf(command, sizeof command, "'%s' '%s'", ZKT_JUDGE, file);
    FILE *said = popen(command, "re");
    while (said != NULL && fgets(line, sizeof line, said) != NULL) {
        if (strncmp(line, word, sizeof word - 1) == 0) {
            (void)fputs(line, stdout);
            line[strcspn(line, "\n")] = '\0';
            zkc_bad_add(v, ZKC_BAD_ILLEGAL, "%s", line + sizeof word - 1);
        }
    }
    const int status = said != NULL ? pclose(said) : -1;
    if (status != 0 && v->bad[ZKC_BAD_ILLEGAL] == 0) {
        zkc_bad_add(v, ZKC_BAD_ILLEGAL, "the judge has failed");
    }
    return true;
}
