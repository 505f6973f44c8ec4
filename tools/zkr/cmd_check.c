/* SPDX-License-Identifier: Apache-2.0 */
/* zkr check: reports the state of a lock in the way that Nagios and Icinga plugins do. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "client.h"
#include "clock.h"
#include "cmd.h"
#include "contender.h"
#include "json.h"
#include "look.h"
#include "options.h"
#include "parse.h"
#include "peers.h"
#include "settings.h"
#include "text.h"
#include "view.h"

static const char usage[] =
    "usage: zkr [OPTION]... check [OPTION]... PATH\n"
    "\n"
    "Reports the lock at PATH in one line, as a plugin for Nagios and Icinga. The\n"
    "status is 0 for OK, 1 for WARNING, 2 for CRITICAL, and 3 for UNKNOWN.\n"
    "\n"
    "      --held-longer-than SEC[,SEC]  WARNING after the first time, CRITICAL after\n"
    "                                    the second\n"
    "      --waiting-more-than N[,N]     WARNING if more wait than the first number,\n"
    "                                    CRITICAL if more than the second\n"
    "      --nobody-leads                CRITICAL if nobody holds the lock or leads\n"
    "      --no-quorum                   CRITICAL, not UNKNOWN, if no server answers\n"
    "  -w, --wait SEC                    wait at most SEC seconds; default 10\n"
    "      --json                        print one line of JSON; see zkr(1)\n";

enum state { OK, WARNING, CRITICAL, UNKNOWN, STATES };

/* A value above a limit raises an alarm. -1: no limit. */
struct limit {
    int64_t warning, critical;
};

/* The bounds of a value. The value is known if both are equal. */
struct range {
    int64_t least, most;
};

static struct {
    struct reading reading;
    struct limit held, waiting;
    int64_t wait_ms;
    bool nobody, quorum, json;
    atomic_int ended; /* the state that was reported, or -1 */
} plugin = {.held = {-1, -1}, .waiting = {-1, -1}, .wait_ms = 10000, .ended = -1};

/* The line to print, and the data that follow it. */
struct report {
    enum state state;
    char text[2048];
    struct range held, waiting, oldest;
    const struct view *view; /* NULL: nothing has been read */
};

/* --- the report --- */

static void add(struct report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct report *r, const char *format, ...)
{
    size_t used = strlen(r->text);
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start() is right above */
    (void)vsnprintf(r->text + used, sizeof(r->text) - used, format, args);
    va_end(args);
}

/* Nagios uses "U" for an unknown value. */
static void print_value(const char *name,
                        struct range value,
                        double unit,
                        const char *unit_name,
                        const struct limit *l)
{
    (void)printf(" %s=", name);
    if (value.least != value.most) {
        (void)fputs("U", stdout);
        return;
    }
    (void)printf("%.13g%s", (double)value.least / unit, unit_name);
    if (l && l->warning >= 0) {
        (void)printf(";%.13g", (double)l->warning / unit);
    }
    if (l && l->critical >= 0) {
        (void)printf(";%.13g", (double)l->critical / unit);
    }
}

/* Prints the text and, after a '|', the values. So a '|' in the text, which may contain text of others, is replaced. */
static void print_line(struct report *r, const char *state)
{
    const double ms = 1000;
    text_clean(r->text);
    for (char *at = r->text; *at; at++) {
        if (*at == '|') {
            *at = '?';
        }
    }
    (void)printf("ZKR %s - %s", state, r->text);
    if (r->view) {
        (void)fputs(" |", stdout);
        print_value("held", r->held, ms, "s", &plugin.held);
        print_value("waiting", r->waiting, 1, "", &plugin.waiting);
        print_value("oldest", r->oldest, ms, "s", NULL);
    }
    (void)fputc('\n', stdout);
}

static void print_json(const struct report *r, const char *state)
{
    struct json j = {.out = stdout};
    const struct view *v = r->view;
    bool known = v && r->waiting.least == r->waiting.most;
    bool waits = known && r->waiting.least > 0;
    json_begin(&j, plugin.reading.path);
    json_text(&j, "state", state);
    json_text(&j, "message", r->text);
    json_text(&j, "kind", v ? v->kind : NULL);
    contender_holder_json(&j, v && v->holders > 0 ? v->rows[0].c : NULL);
    json_number(&j, "waiting", known, r->waiting.least);
    json_number(&j, "waiting_since", waits,
                waits ? v->rows[v->holders].c->created_ms : 0);
    json_end(&j);
}

/* Prints only the first report. Returns the exit code. */
static int report(struct report *r)
{
    static const char *const names[STATES] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    int before = -1;
    if (!atomic_compare_exchange_strong(&plugin.ended, &before, (int)r->state)) {
        return before;
    }
    if (plugin.json) {
        print_json(r, names[r->state]);
    } else {
        print_line(r, names[r->state]);
    }
    (void)cli_flush(); /* a failure here would be a second report */
    if (ferror(stdout)) {
        cli_divert(NULL);
        cli_note("cannot write the report; check where standard output goes");
        return UNKNOWN;
    }
    return (int)r->state;
}

static int take_failure(int status, const char *text)
{
    struct report r = {.state =
                           status == CLI_SERVER && plugin.quorum ? CRITICAL : UNKNOWN};
    add(&r, "%s", text);
    return report(&r);
}

/* --- the judgement --- */

/* Keeps the worst state: CRITICAL before WARNING before UNKNOWN before OK. */
static void judge(struct report *r, enum state state)
{
    static const int weight[STATES] = {
        [OK] = 0, [UNKNOWN] = 1, [WARNING] = 2, [CRITICAL] = 3};
    r->state = weight[state] > weight[r->state] ? state : r->state;
}

/* Adds @what to the report if @value exceeds a limit, or may exceed it. */
static void
compare(struct report *r, const struct limit *l, struct range value, const char *what)
{
    bool critical = l->critical >= 0 && value.least > l->critical;
    bool warning = l->warning >= 0 && value.least > l->warning;
    bool perhaps = l->warning >= 0 && value.most > l->warning;
    if (critical || warning || perhaps) {
        add(r, "%s%s; ", warning ? "" : "perhaps ", what);
        judge(r, critical ? CRITICAL : warning ? WARNING : UNKNOWN);
    }
}

/*
 * Returns how long a contender has held the lock. Without held_since_ms, the node's age is only an upper limit, unless
 * the node itself is the lock.
 */
static struct range held_for(const zkr_contender *c)
{
    bool known = c->held_since_ms > 0 || c->kind == ZKR_KIND_NODE;
    int64_t since = c->held_since_ms > 0 ? c->held_since_ms : c->created_ms;
    int64_t most = contender_ms_since(since);
    return (struct range){known ? most : 0, most};
}

/* Measures the longest hold and the queue. If the order is not known, any contender may be the holder. */
static void measure(struct report *r, const struct view *v)
{
    size_t holders = v->unordered ? v->count : v->holders;
    for (size_t i = 0; i < holders; i++) {
        struct range one = held_for(v->rows[i].c);
        r->held.least = greater(r->held.least, one.least);
        r->held.most = greater(r->held.most, one.most);
    }
    bool node = v->count == 1 && v->rows[0].c->kind == ZKR_KIND_NODE;
    int64_t waiting = (int64_t)(v->count - holders);
    r->waiting = node           ? (struct range){0, INT64_MAX}
                 : v->unordered ? (struct range){0, (int64_t)v->count - 1}
                                : (struct range){waiting, waiting};
    int64_t oldest =
        waiting > 0 ? contender_ms_since(v->rows[holders].c->created_ms) : 0;
    r->oldest = v->unordered ? (struct range){0, 1} : (struct range){oldest, oldest};
}

static void add_summary(struct report *r, const struct view *v)
{
    char age[40] = "";
    if (v->count == 0 || v->holders == 0) {
        add(r, "nobody holds it%s",
            plugin.reading.missing ? "; there is no such path" : "");
    } else if (v->unordered && v->rows[0].c->kind != ZKR_KIND_NODE) {
        add(r, "%zu contenders of %.100s, whose order is not known", v->count,
            contender_recipe(v->rows[0].c));
        return;
    } else {
        contender_held_for(age, sizeof(age), v->rows[0].c);
        add(r, "held by %.200s for %s", contender_owner(v->rows[0].c), age);
    }
    if (v->holders > 1) {
        add(r, " and by %zu more", v->holders - 1);
    }
    if (v->count > 0 && !v->unordered) {
        add(r, ", %zu wait", v->count - v->holders);
    }
}

static int conclude(const struct view *v)
{
    struct report r = {.state = OK, .view = v};
    char held[60], waiting[60];
    measure(&r, v);
    add(&r, "%.1000s: ", plugin.reading.path);
    if (plugin.nobody && v->holders == 0) {
        add(&r, "nobody leads; ");
        judge(&r, CRITICAL);
    }
    (void)snprintf(held, sizeof(held), "held for more than %.13g s",
                   (double)plugin.held.warning / 1000);
    (void)snprintf(waiting, sizeof(waiting), "more than %" PRId64 " wait",
                   plugin.waiting.warning);
    compare(&r, &plugin.held, r.held, held);
    compare(&r, &plugin.waiting, r.waiting, waiting);
    add_summary(&r, v);
    return report(&r);
}

/* --- options --- */

/* Takes "A" or "A,B", where A is at most B. @parse reads each of them. */
static bool
take_limit(struct limit *l, char *value, bool (*parse)(const char *, int64_t *))
{
    char *comma = strchr(value, ',');
    *l = (struct limit){-1, -1};
    if (comma) {
        *comma = '\0';
    }
    bool fine = parse(value, &l->warning);
    if (comma) {
        fine = fine && parse(comma + 1, &l->critical) && l->critical >= l->warning;
        *comma = ',';
    }
    return fine;
}

static bool parse_count(const char *text, int64_t *count)
{
    return parse_int(text, 0, INT32_MAX, count);
}

static bool take_seconds(void *limit, char *value)
{
    return take_limit(limit, value, parse_seconds);
}

static bool take_count(void *limit, char *value)
{
    return take_limit(limit, value, parse_count);
}

static bool take_wait(void *wait_ms, char *value)
{
    int64_t *ms = wait_ms;
    return parse_seconds(value, ms) && *ms > 0;
}

static int take_arguments(struct globals *g)
{
    const struct option_row rows[] = {
        {"held-longer-than", 0, take_seconds, &plugin.held, "SEC or SEC,SEC"},
        {"waiting-more-than", 0, take_count, &plugin.waiting, "N or N,N"},
        {"nobody-leads", 0, option_on, &plugin.nobody, NULL},
        {"no-quorum", 0, option_on, &plugin.quorum, NULL},
        {"wait", 'w', take_wait, &plugin.wait_ms, "seconds, more than 0"},
        {"json", 0, option_on, &plugin.json, NULL},
        OPTIONS_END};
    int rc = options_path(g, usage, rows);
    plugin.reading.path = g->path;
    rc = rc == GO_ON ? options_settle(g) : rc;
    g->connect_ms = lesser(g->connect_ms, plugin.wait_ms);
    return rc;
}

static int read_lock(void *reading)
{
    return look_read(reading);
}

int cmd_check(struct env *env)
{
    static const struct peers none;
    struct view view;
    cli_divert(take_failure);
    plugin.reading.env = env;
    plugin.reading.brief = true;
    int status = take_arguments(&env->globals);
    if (status != GO_ON) {
        return status;
    }
    int64_t until = clock_now_ms() + plugin.wait_ms;
    status = client_open(env, NULL, false, false);
    status = status == 0 ? look_begin(&plugin.reading) : status;
    status = status == 0 ? client_work(env, until, read_lock, &plugin.reading) : status;
    if (status == 0) {
        status = look_view(&plugin.reading, &view, &none) ? conclude(&view)
                                                          : cli_fail_memory();
        view_end(&view);
    }
    look_end(&plugin.reading);
    return client_end(env, client_grace(CLIENT_NOW), true, status);
}
