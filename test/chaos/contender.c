/* SPDX-License-Identifier: Apache-2.0 */
#include "contender.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zkr/zkr.h>

#include "control.h"
#include "record.h"
#include "util.h"
#include "wall.h"

enum { ASK_MS = 50, WAIT_MS = 60000 };

struct contender {
    int history;
    int path, process;
    int64_t token;
    zkr_client *client;
    zkr_mutex *mutex;
};

static zkc_record begin(const struct contender *c, enum zkc_kind kind)
{
    return (zkc_record){.at = zkc_now(),
                        .kind = (uint16_t)kind,
                        .life = 1,
                        .process = (uint8_t)c->process,
                        .path = (uint8_t)c->path,
                        .token = c->token};
}

static void put(const struct contender *c, zkc_record *r)
{
    r->until = zkc_now();
    zkc_put(c->history, r);
}

/* Returns false once the hold is no longer sure. */
static bool ask(const struct contender *c)
{
    zkc_record r = begin(c, ZKC_SURE);
    r.value = zkr_mutex_valid_for_ms(c->mutex);
    if (r.value > 0) {
        put(c, &r);
    }
    return r.value > 0;
}

static void hold_once(struct contender *c)
{
    c->token = 0;
    zkc_record r = begin(c, ZKC_GRANT);
    r.value = -1; /* the sequence number is not checked */
    if (zkr_mutex_acquire(c->mutex, WAIT_MS) != ZKR_OK) {
        zkt_sleep_ms(ASK_MS);
        return;
    }
    if (zkr_mutex_fencing_token(c->mutex, &c->token) == ZKR_OK) {
        r.token = c->token;
        put(c, &r);
    }
    while (ask(c)) {
        zkt_sleep_ms(ASK_MS);
    }
    r = begin(c, ZKC_RELEASE);
    put(c, &r);
    r = begin(c, ZKC_RELEASED);
    r.code = zkr_mutex_release(c->mutex);
    put(c, &r);
}

/* Makes the wall clock of this process follow that of the run. */
static void share_wall(const char *dir)
{
    char file[256];
    (void)snprintf(file, sizeof file, "%s/%s", dir, ZKC_CONTROL_FILE);
    int fd = open(file, O_RDWR | O_CLOEXEC);
    void *memory = mmap(NULL, sizeof(struct zkc_control), PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        zkt_fail("%s cannot be mapped", file);
    }
    (void)close(fd);
    zkc_wall_begin(memory);
}

int zkc_contender_run(char **argv)
{
    struct contender c = {.path = atoi(argv[2]), .process = atoi(argv[3])};
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    char text[256];
    (void)snprintf(text, sizeof text, "%s/%s", argv[0], ZKC_HISTORY_FILE);
    c.history = zkc_history_open(text);
    share_wall(argv[0]);
    o.session_timeout_ms = ZKC_CLOCKS_SESSION_MS;
    o.server_tick_ms = ZKC_CLOCKS_TICK_MS;
    o.lease_margin_ppm = strtoll(argv[4], NULL, 10);
    (void)snprintf(text, sizeof text, ZKC_CLOCKS_PATH "/%d", c.path);
    if (zkr_client_open(&c.client, argv[1], &o) != ZKR_OK ||
        zkr_mutex_create(&c.mutex, c.client, text, NULL) != ZKR_OK) {
        (void)fprintf(stderr, "contender %d: %s\n", c.process,
                      zkr_last_error()->message);
        return 1;
    }
    for (;;) {
        hold_once(&c);
    }
}
