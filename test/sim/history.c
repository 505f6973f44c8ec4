/* SPDX-License-Identifier: Apache-2.0 */
/* The history of the locks, in the format of test/history. A path begins with the seed and the number of its run. */
#include <inttypes.h>

#include "event.h"
#include "sim.h"

FILE *sim_history;

static long run;

void sim_history_begin(void)
{
    run++;
}

static void begin(const char *op, int64_t hold, int64_t called)
{
    zkt_event(sim_history, op, called, zkf_now());
    zkt_event_number(sim_history, "hold", hold);
}

static const char *path_of(enum sim_dir dir, char path[SIM_PATH])
{
    (void)snprintf(path, SIM_PATH, "%" PRIu64 ".%ld%s", scene.seed, run, sim_dir(dir));
    return path;
}

void sim_tell_hold(struct promise *promise, const struct sim_told *told)
{
    static int64_t holds; /* number of holds in all runs */
    char first[SIM_PATH], second[SIM_PATH];
    if (!sim_history) {
        return;
    }
    promise->hold = ++holds;
    begin("acquire", promise->hold, told->called);
    zkt_event_by(sim_history, told->client, 0, told->thread);
    zkt_event_paths(sim_history, path_of(told->dir, first),
                    promise->both ? path_of(AT_SECOND, second) : NULL);
    zkt_event_text(sim_history, "kind", told->kind);
    zkt_event_number(sim_history, "token", told->token);
    zkt_event_number(sim_history, "pass", told->pass);
    zkt_event_number(sim_history, "permits", told->permits);
    zkt_event_number(sim_history, "of", scene.max);
    zkt_event_end(sim_history);
}

void sim_tell_sure(const struct promise *promise, int64_t since)
{
    if (promise->hold != 0 && promise->until > since) {
        begin("sure", promise->hold, since);
        zkt_event_number(sim_history, "for", promise->until - since);
        zkt_event_end(sim_history);
    }
}

static void tell_taken(const struct promise *promise, enum sim_dir dir)
{
    char path[SIM_PATH];
    begin("deleted", promise->hold, zkf_now());
    zkt_event_text(sim_history, "path", path_of(dir, path));
    zkt_event_end(sim_history);
}

void sim_tell_taken(const struct promise *promise)
{
    if (promise->hold == 0 || promise->until <= zkf_now()) {
        return;
    }
    tell_taken(promise, promise->dir);
    if (promise->both) {
        tell_taken(promise, AT_SECOND);
    }
}

void sim_tell_reader(struct promise *writer, struct promise *reader, int64_t called)
{
    if (writer->hold != 0) {
        begin("downgrade", writer->hold, called);
        zkt_event_end(sim_history);
        reader->hold = writer->hold;
        writer->hold = 0;
    }
}

void sim_tell_over(struct promise *promise, int64_t called)
{
    if (promise->hold != 0) {
        begin("release", promise->hold, called);
        zkt_event_end(sim_history);
        promise->hold = 0;
    }
}
