/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Habits of the world: how servers, networks, machines and people affect a client. If two habits never took effect
 * within one run, the search has not tested them together.
 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

enum { HABITS = 40, FEW = 20 };

/*
 * If a pair should have taken effect together in so many runs by chance, but never did, the seeds keep the pair apart.
 */
enum { OFTEN = 12 };

struct habit {
    const char *name;
    bool on;    /* switched on by the seed */
    long count; /* how often the habit took effect, in all runs */
};

/* The counts at the end of the last run, and the switches of the current run. */
static struct habit last[HABITS];
/* The number of runs with both switches on. On the diagonal, the number of runs with this switch on. */
static long on[HABITS][HABITS];
/* The number of runs in which both took effect. On the diagonal, the number of runs in which this habit took effect. */
static long met[HABITS][HABITS];

static int look(struct habit *habits)
{
    const struct zkf_counts *f = zkf_counts();
    const struct habit all[] = {
        {"time-outs shrink", scene.limits, did.shortened},
        {"time-outs grow", scene.limits, f->lengthened},
        {"servers are cut off", scene.isolations, did.isolations},
        {"followers lag", scene.lags, did.lags},
        {"servers are killed", !scene.peace, did.crashes},
        {"all restart, or are emptied", scene.disasters, f->restarts + f->wipes},
        {"writes commit late", scene.servers > 1, f->late_writes},
        {"answers that cannot be", scene.lies, f->lies},
        {"permissions are refused", scene.forbids, f->refused},
        {"quotas are full", scene.forbids, f->over_quota},
        {"a lone server forgets a session", scene.servers == 1, f->unknown_session},
        {"requests are throttled", scene.throttles, f->throttled},
        {"credentials are refused", scene.auth, f->auths_refused},
        {"no room for watches", scene.watch_most > 0, did.limited},
        {"lists tell a wrong count", scene.counting != ZKF_COUNTS_CHILDREN,
         f->miscounted},
        {"servers lack operations", scene.lacks % ZKF_REFUSES != 0, f->lacked},
        {"sessions are replaced", scene.renews, f->renewed},
        {"events are not told", scene.lapses || scene.forbids, f->hushed},
        {"nodes are deleted or changed by hand", scene.hands, did.hands},
        {"nodes come back as another's", scene.replaces, did.replaced},
        {"containers are swept", !scene.peace, did.swept},
        {"directories are made again", scene.remakes, did.remakes},
        {"strangers come", scene.visits || scene.remakes, did.visits},
        {"strangers choose their numbers", scene.named, did.visits_named},
        {"numbers are nearly spent", scene.number >= 0, did.numbers_spent},
        {"connections are cut", !scene.peace, did.cuts},
        {"connections are cut in a transaction", !scene.peace, f->cut_transactions},
        {"nobody hears", !scene.peace, did.silences},
        {"libzookeeper fails", scene.door, f->opens_failed + f->submits_failed},
        {"clocks drift to their margin", true, did.drifts},
        {"processes stand still", scene.longest_stop > 0, did.stops},
        {"processes vanish", scene.kills, did.kills},
        {"memory is short", scene.starved, did.no_memory},
        {"guardians end sessions", scene.guarded, did.guarded},
        {"news are lost", scene.nearby, did.news_lost},
        {"news are forged", scene.nearby, did.news_forged},
        {"callbacks end their threads", scene.exits, did.exits},
        {"holders are asked to let go", scene.wishes, did.wishes},
    };
    enum { COUNT = sizeof(all) / sizeof(all[0]) };
    _Static_assert(sizeof(all) <= HABITS * sizeof(all[0]), "no room");
    memcpy(habits, all, sizeof(all));
    return COUNT;
}

void sim_habits_begin(void)
{
    struct habit now[HABITS];
    int count = look(now);
    for (int i = 0; i < count; i++) {
        last[i].on = now[i].on;
        for (int j = 0; j <= i; j++) {
            on[i][j] += now[i].on && now[j].on;
        }
    }
}

void sim_habits_end(void)
{
    struct habit now[HABITS];
    bool took[HABITS];
    int count = look(now);
    for (int i = 0; i < count; i++) {
        took[i] = now[i].count > last[i].count;
        if (took[i] && !last[i].on) {
            sim_violation("%s, though the seed does not want it", now[i].name);
        }
        for (int j = 0; j <= i; j++) {
            met[i][j] += took[i] && took[j];
        }
    }
    memcpy(last, now, sizeof(last));
}

/* Returns in how many runs both would have taken effect if they were independent. */
static double expected(int i, int j)
{
    double often = on[i][i] > 0 ? (double)met[i][i] / (double)on[i][i] : 0;
    double other = on[j][j] > 0 ? (double)met[j][j] / (double)on[j][j] : 0;
    return (double)on[i][j] * often * other;
}

int sim_habits_print(void)
{
    struct habit now[HABITS];
    int count = look(now), pairs = 0, apart = 0, kept_apart = 0;
    for (int i = 0; i < count; i++) {
        printf("%s: %ld times in %ld runs of %ld\n", now[i].name, now[i].count,
               met[i][i], on[i][i]);
        pairs += i;
        for (int j = 0; j < i; j++) {
            apart += met[i][j] == 0;
            kept_apart += met[i][j] == 0 && expected(i, j) >= OFTEN;
        }
    }
    printf("%d habits; of %d pairs %d met within a run", count, pairs, pairs - apart);
    for (int i = 0; i < count && apart <= FEW; i++) {
        for (int j = 0; j < i; j++) {
            if (met[i][j] == 0) {
                printf("; never, where %.1f times were to be expected: %s, and %s",
                       expected(i, j), now[j].name, now[i].name);
            }
        }
    }
    printf("\n");
    return kept_apart;
}
