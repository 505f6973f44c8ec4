/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease bound against a model of an ensemble: a leader, followers, and the client behind one
 * follower at a time. Everything that the servers do not promise is random: delays of each
 * message, lateness of pings, when the links between leader and follower break, each direction
 * by itself, and when the client moves to another follower. Links break at their worst: when
 * some write has just reached the leader.
 *
 * The model grants the client as little as it can. The session ends to the nanosecond when the timeout of the connection by
 * which the leader last heard of it has passed. Only ping answers touch it: writes do not. A move to another follower
 * negotiates the timeout anew, and touches it; or a stale leader has answered, to whom nothing of that connection counts. A
 * follower that the client has left may go on naming it, with the timeout that it had granted. A new leader starts with the
 * timeout of the creation, whatever was granted since.
 */
#include <stdlib.h>

#include "session/lease.h"
#include "unit.h"

enum { RUNS = 100000, HEAP_MAX = 512, FOLLOWERS = 3 };

#define S INT64_C(6400000)

enum kind {
    PING_DUE, /* the leader's loop */
    PING_AT_FOLLOWER,
    TOUCH_AT_FOLLOWER, /* a read, or a ping of libzookeeper */
    WRITE_AT_FOLLOWER, /* arg: when it was sent, as in all about it */
    COMMIT_AT_FOLLOWER,
    WRITE_AT_LEADER,
    COMMIT_AT_LEADER,
    ANSWER_AT_LEADER, /* to a ping; arg: our timeout if it names us, else 0 */
    HANDSHAKE_AT_LEADER,
    ANSWER_AT_CLIENT,
    CONNECTED_AT_CLIENT,
    WRITE_DUE,
    TOUCH_DUE,
    MOVE_DUE,  /* to the next follower */
    LEADER_DUE /* another, which the followers beyond this one find */
};

struct event {
    int64_t at;
    uint64_t order; /* of two at one time, the first sent comes first */
    enum kind kind;
    int follower;
    int64_t arg;
};

struct follower {
    int64_t session; /* timeout it has granted */
    bool touched;    /* since the last ping answer */
    bool up_cut;     /* nothing arrives at the leader any more */
    bool stale;      /* nor ever did: it follows another */
    bool down_cut;
    /* When the last message arrives: they stay in order. */
    int64_t up, down, from_client, to_client;
    int64_t writes_left; /* until up is cut; and then perhaps down, or later */
};

struct world {
    uint64_t seed, order;
    int64_t now, end, half_tick;
    struct event heap[HEAP_MAX];
    size_t events;
    struct follower followers[FOLLOWERS];
    int at;      /* the client's follower */
    int ruled;   /* the first that the leader of now has heard of */
    bool calm;   /* delays are short */
    bool steady; /* writes come as the lease asks for them, one at a time */
    bool planned;
    bool connected;
    bool limits;  /* followers grant different timeouts */
    int64_t rate; /* by which the client's clock is faster, in parts of a million */
    bool trace;
    int64_t ends, last_commit;
    struct zkr__lease lease;
};

/* --- time --- */

static bool sooner(const struct event *x, const struct event *y)
{
    return x->at != y->at ? x->at < y->at : x->order < y->order;
}

static void push(struct world *w, struct event e)
{
    if (w->events == HEAP_MAX) {
        fail_msg("more than %d messages under way", HEAP_MAX);
    }
    size_t i = w->events++;
    e.order = w->order++;
    while (i > 0 && sooner(&e, &w->heap[(i - 1) / 2])) {
        w->heap[i] = w->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    w->heap[i] = e;
}

static struct event pop(struct world *w)
{
    struct event first = w->heap[0];
    struct event last = w->heap[--w->events];
    size_t i = 0;
    for (size_t child = 1; child < w->events; child = 2 * i + 1) {
        if (child + 1 < w->events && sooner(&w->heap[child + 1], &w->heap[child])) {
            child++;
        }
        if (!sooner(&w->heap[child], &last)) {
            break;
        }
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return first;
}

static int64_t later(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* What the client's clock shows then; and the moment when it shows that, rounded down. */
static int64_t local(const struct world *w, int64_t at)
{
    return at + at * w->rate / 1000000;
}

static int64_t true_time(const struct world *w, int64_t at)
{
    return at * 1000000 / (1000000 + w->rate);
}

static int64_t bound(const struct world *w)
{
    return true_time(w, w->lease.until);
}

/* --- the story of a run --- */

static const char *const words[] = {
    [PING_DUE] = "the leader pings",
    [PING_AT_FOLLOWER] = "ping",
    [TOUCH_AT_FOLLOWER] = "touch",
    [WRITE_AT_FOLLOWER] = "write",
    [COMMIT_AT_FOLLOWER] = "commit",
    [WRITE_AT_LEADER] = "write",
    [COMMIT_AT_LEADER] = "a quorum has it",
    [ANSWER_AT_LEADER] = "ping answer",
    [HANDSHAKE_AT_LEADER] = "handshake",
    [ANSWER_AT_CLIENT] = "answer",
    [CONNECTED_AT_CLIENT] = "is connected",
    [WRITE_DUE] = "sends a write",
    [TOUCH_DUE] = "sends a ping",
    [MOVE_DUE] = "moves on",
    [LEADER_DUE] = "is new",
};

/* Times in thousandths of the session timeout. */
static double in_s(int64_t t)
{
    return (double)t / (S / 1000);
}

static void tell(const struct world *w, const struct event *e, bool lost)
{
    bool leads = e->kind == PING_DUE || e->kind == LEADER_DUE;
    const char *at = leads                            ? "leader"
                     : e->kind <= COMMIT_AT_FOLLOWER  ? "follower"
                     : e->kind <= HANDSHAKE_AT_LEADER ? "leader"
                                                      : "client";
    printf("%9.3f  %-8s %d: %s", in_s(w->now), at, e->follower, words[e->kind]);
    if (e->kind >= WRITE_AT_FOLLOWER && e->kind <= ANSWER_AT_CLIENT &&
        e->kind != ANSWER_AT_LEADER && e->kind != HANDSHAKE_AT_LEADER) {
        printf(" of %.3f", in_s(e->arg));
    } else if (e->kind == ANSWER_AT_LEADER) {
        printf(e->arg != 0 ? ", names us" : ", does not name us");
    }
    printf("%s; sure until %.3f, the session lives until %.3f\n", lost ? ", lost" : "",
           in_s(bound(w)), in_s(w->ends));
}

/* --- messages --- */

/* Mostly short, at times long; in half of the runs short as good as always. */
static int64_t delay(struct world *w)
{
    static const int64_t longest[] = {2, S / 1000, S / 100, S / 100, S / 20, S / 6};
    int64_t i = zkt_below(&w->seed, ZKT_COUNT(longest));
    return zkt_below(&w->seed, longest[w->calm && i > 0 ? i % 2 : i]);
}

static void
send(struct world *w, int64_t *last, enum kind kind, int follower, int64_t arg)
{
    *last = later(*last, w->now + delay(w));
    push(w,
         (struct event){.at = *last, .kind = kind, .follower = follower, .arg = arg});
}

/* The time is taken first; the process may be stopped before it sends. */
static void send_write(struct world *w)
{
    int64_t *last = &w->followers[w->at].from_client;
    if (zkt_below(&w->seed, 3) == 0) {
        *last = later(*last, w->now + S / 12);
    }
    send(w, last, WRITE_AT_FOLLOWER, w->at, w->now);
}

/* The next write: as the lease asks for it, or at any time, and perhaps one besides. */
static void plan_write(struct world *w)
{
    int64_t at = true_time(w, zkr__lease_probe_at(&w->lease)) + 1;
    if (!w->steady && zkt_below(&w->seed, 3) == 0) {
        at = w->now + zkt_below(&w->seed, S / 4);
    }
    push(w, (struct event){.at = later(w->now, at), .kind = WRITE_DUE});
    if (!w->steady && w->connected && zkt_below(&w->seed, 4) == 0) {
        send_write(w);
    }
}

/* --- the servers --- */

static void ping_all(struct world *w)
{
    for (int i = 0; i <= w->at; i++) {
        if (!w->followers[i].up_cut) {
            send(w, &w->followers[i].down, PING_AT_FOLLOWER, i, 0);
        }
    }
    int64_t most = w->half_tick / 16;
    int64_t late = zkt_below(&w->seed, 4) ? most - 1 : zkt_below(&w->seed, most);
    int64_t next = w->half_tick + late; /* never early */
    push(w, (struct event){.at = w->now + next, .kind = PING_DUE});
}

static bool expired(const struct world *w)
{
    return w->now >= w->ends;
}

/* The quorum takes its time, but commits in order. */
static void propose(struct world *w, const struct event *e)
{
    if (!expired(w)) {
        w->last_commit = later(w->last_commit, w->now + delay(w));
        push(w, (struct event){.at = w->last_commit,
                               .kind = COMMIT_AT_LEADER,
                               .follower = e->follower,
                               .arg = e->arg});
    }
}

/* Some write is the last that the leader hears of this follower; at times it was the leader's last of all. */
static void cut_after(struct world *w, struct follower *f)
{
    if (--f->writes_left == 0) {
        f->up_cut = true;
        f->down_cut = zkt_below(&w->seed, 4) == 0;
        w->end = w->now + S / 2;
        if (zkt_below(&w->seed, 4) == 0) {
            push(w, (struct event){.at = w->now + zkt_below(&w->seed, S / 4),
                                   .kind = LEADER_DUE});
        }
    }
}

/* The others elect it. What the old one has not committed is gone, and so is all that it knew of time. */
static void new_leader(struct world *w)
{
    for (int i = 0; i <= w->at; i++) {
        w->followers[i].up_cut = true;
    }
    w->ruled = w->at + 1;
    if (!expired(w)) {
        w->ends = w->now + S;
    }
}

/* Of a shorter timeout the client is assumed to learn at once: lease.h. */
static void welcome(struct world *w, const struct event *e)
{
    struct follower *f = &w->followers[e->follower];
    bool shorter = f->session < w->lease.session;
    if (!f->up_cut && !shorter && !expired(w)) {
        w->ends = w->now + f->session;
    }
    if (!f->up_cut || f->stale) {
        send(w, &f->to_client, CONNECTED_AT_CLIENT, e->follower,
             shorter && !f->stale ? f->session : 0);
    }
}

static void on_leader(struct world *w, const struct event *e)
{
    struct follower *f = &w->followers[e->follower];
    if (e->kind == COMMIT_AT_LEADER && e->follower < w->ruled) {
        return;
    }
    if (e->kind == HANDSHAKE_AT_LEADER) {
        welcome(w, e);
    } else if (e->kind == COMMIT_AT_LEADER) {
        send(w, &f->down, COMMIT_AT_FOLLOWER, e->follower, e->arg);
    } else if (f->up_cut) {
        return;
    } else if (e->kind == WRITE_AT_LEADER) {
        propose(w, e);
        cut_after(w, f);
    } else if (e->arg != 0 && !expired(w)) {
        w->ends = w->now + e->arg;
    }
}

static void on_follower(struct world *w, const struct event *e)
{
    struct follower *f = &w->followers[e->follower];
    bool is_touch = e->kind == TOUCH_AT_FOLLOWER || e->kind == WRITE_AT_FOLLOWER;
    if (!is_touch && f->down_cut) {
        return;
    }
    if (e->kind == PING_AT_FOLLOWER) {
        send(w, &f->up, ANSWER_AT_LEADER, e->follower, f->touched ? f->session : 0);
    } else if (e->kind == WRITE_AT_FOLLOWER) {
        send(w, &f->up, WRITE_AT_LEADER, e->follower, e->arg);
    } else if (e->kind == COMMIT_AT_FOLLOWER) {
        send(w, &f->to_client, ANSWER_AT_CLIENT, e->follower, e->arg);
    }
    f->touched = is_touch || (f->touched && e->kind != PING_AT_FOLLOWER);
}

/* --- the client --- */

static void on_answer(struct world *w, const struct event *e)
{
    if (e->follower != w->at) {
        return; /* of a connection that is no more */
    }
    zkr__lease_answered(&w->lease, local(w, e->arg), local(w, w->now));
    if (!w->planned) {
        w->planned = true;
        plan_write(w);
    }
}

/* To the next follower, which may have other limits, or follow a leader that is none any more. */
static void move(struct world *w)
{
    struct follower *f = &w->followers[w->at + 1];
    f->session = w->followers[w->at].session;
    if (w->limits) {
        static const int64_t timeouts[] = {S / 2, S, 2 * S};
        f->session = timeouts[zkt_below(&w->seed, ZKT_COUNT(timeouts))];
    }
    if (w->connected && zkt_below(&w->seed, 4) == 0) {
        /* It was frozen, and finds an old request of ours. */
        push(w, (struct event){.at = w->now + zkt_below(&w->seed, 3 * S),
                               .kind = TOUCH_AT_FOLLOWER,
                               .follower = w->at});
    }
    w->at++;
    w->connected = false;
    f->stale = f->up_cut = zkt_below(&w->seed, 4) == 0;
    send(w, &f->from_client, HANDSHAKE_AT_LEADER, w->at, 0);
    push(w, (struct event){.at = w->now + zkt_below(&w->seed, S), .kind = MOVE_DUE});
}

static void connected(struct world *w, const struct event *e)
{
    if (e->follower == w->at) {
        w->ends = e->arg != 0 && !expired(w) ? w->now + e->arg : w->ends;
        w->connected = true;
        zkr__lease_reconnected(&w->lease, w->followers[w->at].session);
        push(w, (struct event){.at = w->now, .kind = WRITE_DUE});
    }
}

static void write_some(struct world *w)
{
    w->planned = false;
    if (w->connected) {
        send_write(w);
        if (!w->steady && zkt_below(&w->seed, 3) == 0) {
            send_write(w); /* right behind it */
        }
    }
}

static void on_client(struct world *w, const struct event *e)
{
    if (e->kind == ANSWER_AT_CLIENT) {
        on_answer(w, e);
    } else if (e->kind == CONNECTED_AT_CLIENT) {
        connected(w, e);
    } else if (e->kind == WRITE_DUE) {
        write_some(w);
    } else if (e->kind == TOUCH_DUE) {
        if (w->connected) {
            send(w, &w->followers[w->at].from_client, TOUCH_AT_FOLLOWER, w->at, 0);
        }
        push(w, (struct event){.at = w->now + 1 + zkt_below(&w->seed, S),
                               .kind = TOUCH_DUE});
    } else if (w->at + 1 < FOLLOWERS) {
        move(w);
    }
}

/* --- runs --- */

/* It comes by a link that is cut. */
static bool is_lost(const struct world *w, const struct event *e)
{
    const struct follower *f = &w->followers[e->follower];
    bool from_leader = e->kind == PING_AT_FOLLOWER || e->kind == COMMIT_AT_FOLLOWER;
    bool to_leader = e->kind == WRITE_AT_LEADER || e->kind == ANSWER_AT_LEADER ||
                     e->kind == HANDSHAKE_AT_LEADER;
    return (from_leader && f->down_cut) || (to_leader && f->up_cut);
}

static void begin(struct world *w, uint64_t seed, bool trace)
{
    static const int64_t ticks[] = {S / 2, S / 2, S / 4, S / 10};
    static const int64_t margins[] = {0, 0, 0, 20000, 100000, 400000};
    struct zkr__lease_terms terms = {.no_stopgap = true,
                                     .pause = seed % 2 == 0 ? S / 4 : 0};
    memset(w, 0, offsetof(struct world, heap));
    memset(&w->events, 0, sizeof(*w) - offsetof(struct world, events));
    w->seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    w->half_tick = ticks[zkt_below(&w->seed, ZKT_COUNT(ticks))] / 2;
    terms.margin_ppm = margins[zkt_below(&w->seed, ZKT_COUNT(margins))];
    if (terms.margin_ppm > 0) {
        w->half_tick = S / 20;
        terms.tick = 2 * w->half_tick;
        w->rate = zkt_below(&w->seed, 2) ? terms.margin_ppm : -terms.margin_ppm;
    }
    w->calm = zkt_below(&w->seed, 2) != 0;
    w->trace = trace;
    w->steady = zkt_below(&w->seed, 2) != 0;
    w->end = 4 * S;
    for (int i = 0; i < FOLLOWERS; i++) {
        w->followers[i].writes_left = 3 + zkt_below(&w->seed, 6);
    }
    w->now = delay(w); /* opened at 0, heard of at the leader some time after that */
    w->ends = w->now + S;
    w->now += delay(w);
    zkr__lease_begin(&w->lease, &terms, S, 0);
    push(w, (struct event){.at = zkt_below(&w->seed, w->half_tick), .kind = PING_DUE});
    push(w,
         (struct event){.at = w->now + zkt_below(&w->seed, S / 4), .kind = WRITE_DUE});
    if (!w->steady) {
        push(w, (struct event){.at = w->now, .kind = TOUCH_DUE});
    }
    w->followers[0].session = S;
    w->connected = true;
    w->limits = zkt_below(&w->seed, 4) == 0;
    if (w->limits && w->rate == 0) {
        w->half_tick = S / 8; /* two ticks in the shortest timeout */
    }
    if (w->limits || zkt_below(&w->seed, 4) == 0) {
        push(w, (struct event){.at = zkt_below(&w->seed, 2 * S), .kind = MOVE_DUE});
    }
    if (zkt_below(&w->seed, 4) == 0) {
        push(w, (struct event){.at = zkt_below(&w->seed, 4 * S), .kind = LEADER_DUE});
    }
}

static void run(struct world *w, uint64_t seed, bool trace)
{
    begin(w, seed, trace);
    while (w->events > 0 && w->heap[0].at < w->end && bound(w) <= w->ends) {
        struct event e = pop(w);
        w->now = e.at;
        bool lost = is_lost(w, &e);
        if (e.kind == PING_DUE) {
            ping_all(w);
        } else if (e.kind == LEADER_DUE) {
            new_leader(w);
        } else if (e.kind >= ANSWER_AT_CLIENT) {
            on_client(w, &e);
        } else if (e.kind >= WRITE_AT_LEADER) {
            on_leader(w, &e);
        } else {
            on_follower(w, &e);
        }
        if (trace) {
            tell(w, &e, lost);
        }
    }
}

/* However messages are delayed and links break, the bound is never later than the session's end. */
ZKT_UNIT_CASE(no_session_ends_before_the_bound)
{
    static struct world w;
    int chains = 0;
    int close = 0;
    for (int i = 0; i < RUNS; i++) {
        run(&w, (uint64_t)i, false);
        if (bound(&w) > w.ends) {
            fail_msg(
                "seed %d: the bound is %.3f thousandths of a session after its end\n"
                "replay: test_unit_lease_model --seed %d --trace",
                i, in_s(bound(&w) - w.ends), i);
        }
        chains += bound(&w) > S;
        close += bound(&w) > S && bound(&w) > w.ends - S / 50;
    }
    assert_true(chains >
                RUNS / 4); /* the rule was in use, and now and then a near thing */
    print_message("%d proven, %d close\n", chains, close);
    assert_true(close > RUNS / 1000);
}

static int replay(uint64_t seed, bool trace)
{
    static struct world w;
    run(&w, seed, trace);
    bool fine = bound(&w) <= w.ends;
    printf("seed %llu: sure until %.3f, the session lives until %.3f%s\n",
           (unsigned long long)seed, in_s(bound(&w)), in_s(w.ends),
           fine ? "" : ": too late");
    return fine ? 0 : 1;
}

static int take_arguments(char **argv, int *status)
{
    if (argv[0] && argv[1] && strcmp(argv[0], "--seed") == 0) {
        bool trace = argv[2] && strcmp(argv[2], "--trace") == 0;
        *status = replay(strtoull(argv[1], NULL, 10), trace);
        return -1;
    }
    return 0;
}

__attribute__((constructor)) static void begin_program(void)
{
    zkt_at_start(take_arguments);
}
