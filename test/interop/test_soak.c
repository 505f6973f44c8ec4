/* SPDX-License-Identifier: Apache-2.0 */
/* All libraries count together while holders are killed. Arguments: --two, and all peers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"
#include "peer.h"

enum { PATIENCE_MS = 60000, SESSION_MS = 10000, DOOMED_MS = 6000, COUNTS = 60 };

static char file[64], stop[64 + 4];

static int counted(void)
{
    int n = -1;
    FILE *f = fopen(file, "re");
    if (f && fscanf(f, "%d", &n) != 1) {
        n = -1; /* it is being written */
    }
    if (f) {
        (void)fclose(f);
    }
    return n;
}

static void tell(struct peer *p, const char *word, const char *what)
{
    char line[128];
    (void)snprintf(line, sizeof(line), "%s %s", word, what);
    peer_say(p, line);
}

/* Let a peer acquire, add 1 or not, and die. The others go on when its session has ended. Returns what it added. */
static int one_dies_holding(enum peer_kind kind, bool adds)
{
    struct peer *p = peer_with_lock(kind, NULL, DOOMED_MS);
    peer_ask(p, "acquire 60000", "true");
    if (adds) {
        tell(p, "add", file);
        peer_expect(p, "ok");
    }
    const int before = counted();
    assert_true(before >= 0);
    peer_kill(p);
    ZKT_EVENTUALLY(counted() > before + COUNTS, PATIENCE_MS);
    return adds;
}

static void make_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "we");
    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* Each increment under the lock is a read and a write with a pause between them. Without exclusion, counts are lost. */
ZKT_CASE(all_count_exactly_while_holders_are_killed)
{
    struct peer *p[PEERS] = {NULL};
    int sum = 0, killed = 0;
    (void)snprintf(file, sizeof(file), "/tmp/zkt-count-%d", (int)getpid());
    (void)snprintf(stop, sizeof(stop), "%s-end", file);
    make_file(file, "0\n");
    assert_int_equal(zkt_create_path(zkt_servers(), zkt_path()), 0);
    for (int kind = 0; kind < PEERS; kind++) {
        if (peer_is_there((enum peer_kind)kind)) {
            p[kind] = peer_with_lock((enum peer_kind)kind, NULL, SESSION_MS);
            tell(p[kind], "soak", file);
        }
    }
    for (int kind = 0; kind < PEERS; kind++) {
        if (p[kind]) {
            sum += one_dies_holding((enum peer_kind)kind, killed++ % 2 == 0);
        }
    }
    make_file(stop, "");
    for (int kind = 0; kind < PEERS; kind++) {
        int times = p[kind] ? atoi(peer_hear(p[kind])) : 0;
        assert_true(times > 0 || !p[kind]);
        print_message("%d%s", times, kind + 1 < PEERS ? " + " : "");
        sum += times;
    }
    print_message(" and %d by those that were killed: %d\n", (killed + 1) / 2,
                  counted());
    assert_int_equal(counted(), sum);
    (void)unlink(file);
    (void)unlink(stop);
}
