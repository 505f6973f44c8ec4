/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "die.h"
#include "stats.h"

enum { MOST_GRANTS = 20000, PATHS = 256, STACK = 256 * 1024, MOST_THREADS = 64 };

struct driver_options driver_options = {.kind = "",
                                        .lock = "mutex",
                                        .permits = 1,
                                        .sessions = 1,
                                        .threads = 1,
                                        .locks = 1,
                                        .ttl_ms = 10000};

/* The times of one acquire, or of one failed try. After a failed try, @released is 0. */
struct grant {
    int64_t asked, granted, released;
};

struct contender {
    pthread_t thread;
    void *lock;
    struct grant *grants;
    int count, room;
};

/* The driver handles one command at a time, and the contenders wait for the next command. */
static struct {
    const struct driver_peer *peer;
    void **sessions;
    struct contender *contenders;
    int count; /* number of contenders */
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    int round, busy;
    char work; /* c: cycle, o: once, t: try */
    int64_t from, to;
} driver = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .begun = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

bool driver_writes(int number)
{
    return number % 8 == 0;
}

static void *must(void *made)
{
    if (!made) {
        bench_die("out of memory");
    }
    return made;
}

static struct grant *next_grant(struct contender *c)
{
    if (c->count == c->room) {
        c->room = c->room ? c->room * 2 : 4;
        c->grants = must(realloc(c->grants, sizeof(*c->grants) * (size_t)c->room));
    }
    struct grant *g = &c->grants[c->count++];
    *g = (struct grant){.asked = stats_now()};
    return g;
}

static void be_busy(void)
{
    int64_t until = stats_now() + (int64_t)driver_options.hold_us * 1000;
    while (driver_options.hold_us > 0 && stats_now() < until) {
    }
}

static void hold(struct contender *c, struct grant *g)
{
    g->granted = stats_now();
    be_busy();
    g->released = stats_now();
    driver.peer->unlock(c->lock);
}

static void take_turn(struct contender *c)
{
    struct grant *g = next_grant(c);
    if (driver.peer->lock(c->lock, driver.work != 't')) {
        hold(c, g);
    } else if (driver.work != 't') {
        bench_die("a lock was refused");
    } else {
        g->granted = stats_now();
    }
}

static void run_round(struct contender *c)
{
    do {
        take_turn(c);
    } while (driver.work != 'o' && stats_now() < driver.to && c->count < MOST_GRANTS);
}

static void one_is_done(void)
{
    (void)pthread_mutex_lock(&driver.mutex);
    if (--driver.busy == 0) {
        (void)pthread_cond_signal(&driver.done);
    }
    (void)pthread_mutex_unlock(&driver.mutex);
}

static void on_granted(void *contender)
{
    struct contender *c = contender;
    hold(c, &c->grants[0]);
    one_is_done();
}

/* All contenders request the lock once, without threads. */
static void request_all(void)
{
    for (int i = 0; i < driver.count; i++) {
        struct contender *c = &driver.contenders[i];
        c->count = 0;
        (void)next_grant(c);
        driver.peer->request(c->lock, on_granted, c);
    }
}

/* Returns whether there are so many contenders that they wait without threads. The peer must support that. */
static bool is_crowd(void)
{
    return driver.peer->request && driver_options.threads > MOST_THREADS;
}

static void *contend(void *arg)
{
    struct contender *c = arg;
    for (int round = 1;; round++) {
        (void)pthread_mutex_lock(&driver.mutex);
        while (driver.round < round) {
            (void)pthread_cond_wait(&driver.begun, &driver.mutex);
        }
        (void)pthread_mutex_unlock(&driver.mutex);
        c->count = 0;
        run_round(c);
        (void)pthread_mutex_lock(&driver.mutex);
        if (c->count == MOST_GRANTS && stats_now() < driver.to) {
            driver.to = stats_now(); /* after this, not all contenders take part */
        }
        (void)pthread_mutex_unlock(&driver.mutex);
        one_is_done();
    }
    return NULL;
}

static void start_contenders(void)
{
    const struct driver_options *o = &driver_options;
    pthread_attr_t small;
    (void)pthread_attr_init(&small);
    (void)pthread_attr_setstacksize(&small, STACK);
    driver.count = o->sessions * o->threads;
    driver.sessions = must(calloc((size_t)o->sessions, sizeof(*driver.sessions)));
    driver.contenders = must(calloc((size_t)driver.count, sizeof(*driver.contenders)));
    for (int i = 0; i < o->sessions; i++) {
        driver.sessions[i] = driver.peer->open();
    }
    for (int i = 0; i < driver.count; i++) {
        char path[PATHS];
        struct contender *c = &driver.contenders[i];
        (void)snprintf(path, sizeof(path), "%s-%d", o->path, (o->first + i) % o->locks);
        c->lock =
            driver.peer->make(driver.sessions[i / o->threads], path, o->first + i);
        if (!is_crowd() && pthread_create(&c->thread, &small, contend, c) != 0) {
            bench_die("no thread");
        }
    }
}

static void round_of(char work, double seconds)
{
    (void)pthread_mutex_lock(&driver.mutex);
    driver.work = work;
    driver.from = stats_now();
    driver.to = work == 'o' ? INT64_MAX : driver.from + (int64_t)(seconds * 1e9);
    driver.busy = driver.count;
    driver.round++;
    (void)pthread_cond_broadcast(&driver.begun);
    (void)pthread_mutex_unlock(&driver.mutex);
    if (is_crowd()) {
        request_all();
    }
    (void)pthread_mutex_lock(&driver.mutex);
    while (driver.busy > 0) {
        (void)pthread_cond_wait(&driver.done, &driver.mutex);
    }
    if (work == 'o') {
        driver.to = stats_now();
    }
    (void)pthread_mutex_unlock(&driver.mutex);
}

static void print_round(void)
{
    printf("{\"from\":%lld,\"to\":%lld,\"grants\":[", (long long)driver.from,
           (long long)driver.to);
    for (int i = 0; i < driver.count; i++) {
        const struct contender *c = &driver.contenders[i];
        printf("%s[", i > 0 ? "," : "");
        for (int j = 0; j < c->count; j++) {
            const struct grant *g = &c->grants[j];
            printf("%s%lld,%lld,%lld", j > 0 ? "," : "", (long long)g->asked,
                   (long long)g->granted, (long long)g->released);
        }
        printf("]");
    }
    printf("]}\n");
}

static void print_now(void)
{
    printf("{\"at\":%lld}\n", (long long)stats_now());
}

static void obey(const char *command, double seconds)
{
    const struct driver_peer *peer = driver.peer;
    if (strcmp(command, "cycle") == 0 || strcmp(command, "once") == 0 ||
        strcmp(command, "try") == 0) {
        round_of(command[0], seconds);
        print_round();
    } else if (strcmp(command, "hold") == 0) {
        (void)peer->lock(driver.contenders[0].lock, true);
        print_now();
    } else if (strcmp(command, "release") == 0) {
        print_now();
        peer->unlock(driver.contenders[0].lock);
    } else if (peer->lead && strcmp(command, "lead") == 0) {
        peer->lead(driver.sessions[0], driver_options.path);
        print_now();
    } else if (peer->lead && strcmp(command, "resign") == 0) {
        print_now();
        peer->resign(driver.sessions[0]);
    } else {
        bench_die("no such command: %s", command);
    }
}

static void take_argument(const char *argument)
{
    struct driver_options *o = &driver_options;
    const struct {
        const char *name;
        const char **text;
        int *number;
    } table[] = {
        {"servers=", &o->servers, NULL}, {"path=", &o->path, NULL},
        {"kind=", &o->kind, NULL},       {"lock=", &o->lock, NULL},
        {"permits=", NULL, &o->permits}, {"sessions=", NULL, &o->sessions},
        {"threads=", NULL, &o->threads}, {"locks=", NULL, &o->locks},
        {"first=", NULL, &o->first},     {"hold_us=", NULL, &o->hold_us},
        {"ttl_ms=", NULL, &o->ttl_ms},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t length = strlen(table[i].name);
        if (strncmp(argument, table[i].name, length) != 0) {
            continue;
        }
        if (table[i].text) {
            *table[i].text = argument + length;
        } else {
            *table[i].number = (int)strtol(argument + length, NULL, 10);
        }
        return;
    }
    bench_die("what is %s?", argument);
}

int driver_main(int argc, char **argv, const struct driver_peer *peer)
{
    char line[128], command[16];
    driver.peer = peer;
    for (int i = 1; i < argc; i++) {
        take_argument(argv[i]);
    }
    if (!driver_options.servers || !driver_options.path) {
        bench_die("usage: %s servers=... path=... [NAME=VALUE...]", argv[0]);
    }
    start_contenders();
    puts("ready");
    (void)fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        double seconds = 0;
        if (sscanf(line, "%15s %lf", command, &seconds) >= 1) {
            obey(command, seconds);
            (void)fflush(stdout);
        }
    }
    for (int i = 0; peer->close && i < driver_options.sessions; i++) {
        peer->close(driver.sessions[i]);
    }
    _exit(0); /* contenders wait for a command that will not arrive */
}
