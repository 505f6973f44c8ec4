/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that the AdminServer of ZooKeeper 3.9 can cause in the data of a server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strike.h"
#include "testing/net.h"
#include "util.h"

enum { HTTP_MS = 20000, SERVE_MS = 60000, STEP_MS = 50 };

static int ports[ZKC_SERVERS]; /* ports of the AdminServers; 0: none yet */

/* A text or a snapshot. */
struct body {
    char *data;
    size_t size;
};

static bool read_all(int fd, struct body *out, int64_t deadline)
{
    size_t room = 0;
    ssize_t n = 1;
    *out = (struct body){.data = NULL};
    while (n > 0) {
        if (out->size == room) {
            room = room * 2 + 65536;
            char *more = realloc(out->data, room + 1);
            if (more == NULL) {
                return false;
            }
            out->data = more;
        }
        n = zkr__test_read_some(fd, out->data + out->size, room - out->size, deadline);
        out->size += n > 0 ? (size_t)n : 0;
    }
    out->data[out->size] = '\0';
    return n == 0;
}

/*
 * Sends a request, with body @in if it is not NULL. @out, to be freed, receives the body of the answer. Returns false
 * if the status is not 200.
 */
static bool ask(int port, const char *what, const struct body *in, struct body *out)
{
    const int64_t end = zkt_now_ms() + HTTP_MS;
    char host[32];
    char head[256];
    struct body all = {.data = NULL};
    (void)snprintf(host, sizeof host, "127.0.0.1:%d", port);
    (void)snprintf(
        head, sizeof head,
        "%s HTTP/1.0\r\nHost: %s\r\nAuthorization: digest " ZKC_SUPER
        "\r\nContent-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
        what, host, in != NULL ? in->size : 0);
    int fd = zkr__test_connect(host, end);
    bool done = fd >= 0 && zkr__test_write_all(fd, head, strlen(head), end) &&
                (in == NULL || zkr__test_write_all(fd, in->data, in->size, end)) &&
                read_all(fd, &all, end);
    if (fd >= 0) {
        (void)close(fd);
    }
    const char *body = done ? strstr(all.data, "\r\n\r\n") : NULL;
    done = body != NULL && strncmp(all.data, "HTTP/1.", 7) == 0 &&
           strncmp(all.data + 8, " 200 ", 5) == 0;
    if (done) {
        const size_t before = (size_t)(body + 4 - all.data);
        all.size -= before;
        memmove(all.data, body + 4, all.size + 1);
        *out = all;
    } else {
        (void)fprintf(stderr, "chaos: %s: %.300s\n", what,
                      all.data != NULL ? all.data : "");
        free(all.data);
    }
    return done;
}

/* Makes sure that the server has an AdminServer: restarts it with one if necessary. Returns false if that fails. */
static bool have_admin(const struct strike *x, int which)
{
    zkt_server *server = zkt_ensemble_server(x->s->ensemble, which);
    if (ports[which] != 0) {
        return true;
    }
    int fd = zkr__test_listen("127.0.0.1", &ports[which]);
    if (fd < 0) {
        return false;
    }
    zkc_stage_kill(server);
    ZKT_MUST(zkr__test_server_write(
        server, "zoo.cfg",
        "admin.enableServer=true\nadmin.serverAddress=127.0.0.1\n"
        "admin.serverPort=%d\nadmin.rateLimiterIntervalInMS=1\n",
        ports[which]));
    (void)close(fd);
    zkt_server_launch(server);
    return zkc_wait_server(x->s, which, zkt_now_ms() + SERVE_MS);
}

static bool take(const struct strike *x, int which, struct body *out)
{
    static const char magic[] = "ZKSN";
    return have_admin(x, which) &&
           ask(ports[which], "GET /commands/snapshot?streaming=true", NULL, out) &&
           out->size > sizeof magic && memcmp(out->data, magic, sizeof magic - 1) == 0;
}

/* Returns the index of the leader or of another server, as the fault chooses. */
static int one_of_them(const struct strike *x)
{
    return (x->leader + (int)(x->f->who % ZKC_SERVERS)) % ZKC_SERVERS;
}

bool zkc_take_snapshot(const struct strike *x)
{
    struct body snapshot = {.data = NULL};
    const bool done = take(x, one_of_them(x), &snapshot);
    free(snapshot.data);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    return done;
}

/*
 * Restores an older snapshot on one server while locks are held. No library can compensate for that, as docs/loss.md
 * says. At the end, the server is wiped and gets the data of the others.
 */
bool zkc_restore_snapshot(const struct strike *x)
{
    const int which = one_of_them(x);
    zkt_server *server = zkt_ensemble_server(x->s->ensemble, which);
    struct body snapshot = {.data = NULL};
    struct body answer = {.data = NULL};
    bool done = take(x, which, &snapshot);
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    done = done && ask(ports[which], "POST /commands/restore", &snapshot, &answer) &&
           strstr(answer.data, "\"last_zxid\"") != NULL;
    (void)zkc_stage_pass(x->s, x->f->span_ms);
    free(snapshot.data);
    free(answer.data);
    zkc_stage_kill(server);
    ZKT_MUST(zkr__test_server_wipe(server));
    zkt_server_launch(server);
    return done;
}
