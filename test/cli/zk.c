/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zk VERB [ARGUMENT...]: lets transcripts change and read nodes below the chroot of $ZKR_SERVERS with raw/raw.h, and
 * start separate servers and proxies. usage() lists the verbs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "clean.h"
#include "fourlw.h"
#include "lies.h"
#include "proxy.h"
#include "raw.h"
#include "raw_impl.h"
#include "server.h"
#include "util.h"

enum { SESSION_MS = 30000, PING_MS = 1000, DATA_MAX = 65536 };

static const char *hosts;
static char base[512]; /* @hosts without the chroot */

static _Noreturn void usage(void)
{
    (void)fputs(
        "put PATH [DATA]      a node, with its parents and this data; -: that of "
        "stdin\n"
        "acl PATH RIGHTS      everybody has these, a sum as in raw.h\n"
        "private PATH [DATA]  a node that only digest:me:secret may use\n"
        "container PATH       a node that the servers remove when it is empty\n"
        "rm PATH | clear PATH a node; all below it\n"
        "ls PATH | get PATH   names of children, one a line; data\n"
        "stat PATH            czxid and other numbers\n"
        "count [PATH]         children\n"
        "ephemerals [PATH]    ephemeral nodes below it\n"
        "keep PATH[=DATA]...  ephemeral nodes of one session, until a signal; one that "
        "ends with - gets a number\n"
        "locks COUNT          directories with a lock each\n"
        "clean                waits until nothing is left of the chroot but nodes that "
        "stay, and removes it\n"
        "word WORD            what each server says to it\n"
        "proxy                prints its host; lines of stdin are orders\n"
        "server [-j JVM] [LINE...]     prints its host; lines of configuration; a line "
        "of stdin: restarts it empty\n"
        "ensemble [LINE...]   prints three hosts, the leader first\n"
        "subreaper COMMAND...\n",
        stderr);
    exit(64);
}

static void check(int rc, const char *path)
{
    if (rc != ZKT_OK) {
        (void)printf("zk: %s: %d\n", path, rc);
        exit(1);
    }
}

static zkt_raw *open_session(void)
{
    zkt_raw *s = zkt_raw_open(hosts, SESSION_MS);
    check(s ? ZKT_OK : ZKT_LOST, hosts);
    return s;
}

/* --- nodes --- */

static void make_parents(const char *path)
{
    char parent[4096];
    (void)snprintf(parent, sizeof(parent), "%s", path);
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent) {
        *slash = '\0';
        check(zkt_create_path(hosts, parent), parent);
    }
}

static void create(zkt_raw *s, const zkt_node *node)
{
    check(zkt_raw_create(s, node, NULL, 0), node->path);
}

static void put(zkt_node node, const char *data)
{
    static char text[DATA_MAX];
    if (data && strcmp(data, "-") == 0) {
        node.data_len = fread(text, 1, sizeof(text), stdin);
        node.data = text;
    } else if (data) {
        node.data_len = strlen(data);
        node.data = data;
    }
    make_parents(node.path);
    zkt_raw *s = open_session();
    if (node.flags == 0 && !node.scheme &&
        zkt_raw_exists(s, node.path, false, NULL) == ZKT_OK) {
        check(zkt_raw_set(s, node.path, node.data, node.data_len), node.path);
    } else {
        create(s, &node);
    }
    check(zkt_raw_close(s), node.path);
}

static bool numbered(const char *path)
{
    return path[strlen(path) - 1] == '-';
}

/* Keeps the nodes until a signal ends this process, which first ends the session. */
static void keep(char **nodes)
{
    sigset_t ends;
    const struct timespec pause = {.tv_sec = PING_MS / 1000};
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    for (char **node = nodes; *node; node++) {
        char *path = strdup(*node);
        path[strcspn(path, "=")] = '\0';
        make_parents(path);
        free(path);
    }
    zkt_raw *s = open_session();
    for (; *nodes; nodes++) {
        char *data = strchr(*nodes, '=');
        if (data) {
            *data++ = '\0';
        }
        create(s, &(zkt_node){.path = *nodes,
                              .data = data,
                              .data_len = data ? strlen(data) : 0,
                              .flags = numbered(*nodes) ? ZKT_EPHEMERAL | ZKT_SEQUENCE
                                                        : ZKT_EPHEMERAL});
    }
    (void)printf("kept by 0x%llx\n", (unsigned long long)zkt_raw_id(s));
    (void)fflush(stdout);
    while (sigtimedwait(&ends, NULL, &pause) != SIGTERM) {
        check(zkt_raw_ping(s), "ping");
    }
    (void)zkt_raw_close(s);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list(const char *path)
{
    zkt_list l;
    check(zkt_children(hosts, path, &l), path);
    if (l.count > 0) {
        qsort(l.name, (size_t)l.count, sizeof(l.name[0]), by_name);
    }
    for (int i = 0; i < l.count; i++) {
        (void)puts(l.name[i]);
    }
    zkt_list_free(&l);
}

static void get(const char *path, bool data)
{
    static char text[DATA_MAX];
    zkt_stat st;
    check(zkt_get(hosts, path, text, sizeof(text), &st), path);
    if (data) {
        (void)printf("%s\n", text);
    } else {
        (void)printf("czxid=%lld changed=%d version=%d owner=0x%llx ctime=%lld "
                     "mtime=%lld children=%d\n",
                     (long long)st.czxid, st.mzxid != st.czxid, st.version,
                     (unsigned long long)st.ephemeral_owner, (long long)st.ctime,
                     (long long)st.mtime, st.num_children);
    }
}

static void make_locks(int count)
{
    char path[64];
    zkt_raw *s = open_session();
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof(path), "/%04d", i);
        create(s, &(zkt_node){.path = path});
        (void)snprintf(path, sizeof(path), "/%04d/x-lock-0000000000", i);
        create(s, &(zkt_node){.path = path});
    }
    check(zkt_raw_close(s), "/");
}

/*
 * Deletes everything below the chroot, and the chroot itself. If ephemeral nodes or watches were left, prints their
 * numbers and returns 1.
 */
static int clean(void)
{
    enum { CLEAN_MS = 5000, LOOK_MS = 20 };
    const char *path = zkt_chroot(hosts);
    int64_t nodes, watches;
    for (const int64_t until = zkt_now_ms() + CLEAN_MS;;) {
        nodes = zkt_ephemerals_under(base, path);
        watches = zkt_watches_under(base, path);
        if ((nodes == 0 && watches == 0) || zkt_now_ms() > until) {
            break;
        }
        zkt_sleep_ms(LOOK_MS);
    }
    if (nodes != 0 || watches != 0) {
        (void)printf("left over: %lld ephemeral nodes, %lld watches\n",
                     (long long)nodes, (long long)watches);
    }
    int rc = zkt_delete_children(base, path);
    if (rc == ZKT_OK) {
        rc = zkt_delete(base, path);
    }
    check(rc, path);
    return nodes != 0 || watches != 0;
}

static void ask(const char *word)
{
    char host[256];
    const char *at = zkt_direct(hosts);
    for (size_t length; (length = strcspn(at, ",/")) > 0; at += length + 1) {
        (void)snprintf(host, sizeof(host), "%.*s", (int)length, at);
        char *text = zkt_4lw_text(host, word, 2000);
        (void)fputs(text ? text : "no answer\n", stdout);
        free(text);
        if (at[length] != ',') {
            break;
        }
    }
}

/* --- servers --- */

static void say(const char *text)
{
    (void)puts(text);
    (void)fflush(stdout);
}

/* The action to take when the proxy gets a request of a kind for the n-th time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct at {
    char op;
    int left;
    char action[16], path[256];
} ats[8];
static zkt_proxy *proxy;
static int counts[128]; /* requests by kind, since the first arm() */

static void on_request(void *unused, int n, int op)
{
    enum {
        OP_CLOSE = -11,
        OP_EXISTS = 3,
        OP_GET = 4,
        OP_SET = 5,
        OP_LIST = 8,
        OP_LIST2 = 12,
        OP_CREATE2 = 15
    };
    const char kind = op == OP_LIST || op == OP_LIST2     ? 'l'
                      : op == OP_GET                      ? 'g'
                      : op == OP_SET                      ? 's'
                      : op == OP_CREATE2                  ? 'c'
                      : op == OP_EXISTS || op == OP_CLOSE ? '-'
                                                          : 'o';
    (void)unused;
    (void)n;
    (void)pthread_mutex_lock(&lock);
    counts[(int)kind]++;
    for (struct at *at = ats; at->op; at++) {
        if (at->op != kind || --at->left != 0) {
            continue;
        }
        if (strcmp(at->action, "blackhole") == 0) {
            zkt_proxy_blackhole(proxy);
        } else if (strcmp(at->action, "mute") == 0) {
            zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
        } else {
            (void)zkt_delete(hosts, at->path);
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

/* Arms an action. @words: list, get, set or create; the number of the request; blackhole, mute or delete PATH. */
static void arm(const char *words)
{
    struct at *at = ats;
    (void)pthread_mutex_lock(&lock);
    while (at->op) {
        at++;
    }
    (void)sscanf(words, "%c%*s %d %15s %255s", &at->op, &at->left, at->action,
                 at->path);
    (void)pthread_mutex_unlock(&lock);
    zkt_proxy_on_request(proxy, on_request, NULL);
}

static const struct {
    const char *name;
    void (*obey)(zkt_proxy *p);
} orders[] = {{"cut", zkt_proxy_cut},
              {"drop", zkt_proxy_drop_connections},
              {"blackhole", zkt_proxy_blackhole},
              {"heal", zkt_proxy_heal}};

/*
 * Obeys an order. "kinds" prints the requests by kind since the first "at"; "lie": see zkt_lie; "told" prints how often
 * the lie was told.
 */
static void obey(const char *words)
{
    static struct zkt_lie lie;
    int a, b = 0, c = 0;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (strcmp(words, orders[i].name) == 0) {
            orders[i].obey(proxy);
            return;
        }
    }
    if (strcmp(words, "freeze") == 0) {
        zkt_proxy_freeze(proxy, ZKT_TO_SERVER);
    } else if (strcmp(words, "mute") == 0) {
        zkt_proxy_freeze(proxy, ZKT_TO_CLIENT);
    } else if (strcmp(words, "thaw") == 0) {
        zkt_proxy_thaw(proxy, ZKT_TO_CLIENT);
    } else if (strcmp(words, "lost") == 0) {
        (void)puts(zkt_proxy_triggered(proxy) ? "yes" : "no");
    } else if (strcmp(words, "count") == 0) {
        const zkt_proxy_counts n = zkt_proxy_counters(proxy);
        (void)printf("%lld requests, %lld connections\n", (long long)n.requests,
                     (long long)n.connections);
    } else if (strcmp(words, "kinds") == 0) {
        (void)pthread_mutex_lock(&lock);
        (void)printf("%d lists, %d gets, %d others\n", counts['l'], counts['g'],
                     counts['s'] + counts['c'] + counts['o']);
        (void)pthread_mutex_unlock(&lock);
    } else if (strncmp(words, "at ", 3) == 0) {
        arm(words + 3);
    } else if (sscanf(words, "lose request %d", &a) == 1) {
        zkt_proxy_cut_before_request(proxy, a);
    } else if (sscanf(words, "lose answer %d", &a) == 1) {
        zkt_proxy_cut_after_request(proxy, a);
    } else if (sscanf(words, "delay %d", &a) == 1) {
        zkt_proxy_delay(proxy, ZKT_TO_SERVER, a);
    } else if (sscanf(words, "habits %d", &a) == 1) {
        zkt_proxy_habits(proxy, a);
    } else if (strcmp(words, "lie unknown") == 0) {
        lie = (struct zkt_lie){.kind = ZKT_LIE_UNKNOWN};
        zkt_proxy_lie(proxy, &lie);
    } else if (sscanf(words, "lie %d %d %d", &a, &b, &c) >= 2) {
        zkt_proxy_lie(proxy, NULL);
        lie =
            (struct zkt_lie){.kind = ZKT_LIE_REFUSED, .number = a, .op = b, .times = c};
        zkt_proxy_lie(proxy, &lie);
    } else if (strcmp(words, "told") == 0) {
        (void)printf("%d\n", atomic_load(&lie.told));
    } else {
        (void)printf("no order: %s\n", words);
    }
}

/* Reads orders, one a line, and prints "done" after each. */
static void serve_proxy(void)
{
    char line[300], host[512];
    proxy = zkt_proxy_start(base);
    (void)snprintf(host, sizeof(host), "%s%s", zkt_proxy_host(proxy),
                   zkt_chroot(hosts));
    say(host);
    while (fgets(line, sizeof(line), stdin)) {
        obey(strtok(line, "\n"));
        say("done");
    }
}

static char *joined(char **lines)
{
    static char text[4096];
    for (; *lines; lines++) {
        (void)strcat(strcat(text, *lines), "\n");
    }
    return text;
}

static void serve(char **lines)
{
    char line[64];
    zkt_server_options o = {.jvm_arguments = NULL};
    if (*lines && strcmp(*lines, "-j") == 0) {
        o.jvm_arguments = lines[1];
        lines += 2;
    }
    o.config = joined(lines);
    zkt_server *s = zkt_server_start(&o);
    say(zkt_server_host(s));
    while (fgets(line, sizeof(line), stdin)) {
        zkt_server_restart(s, true);
        say("done");
    }
    zkt_server_stop(s);
}

static void serve_three(char **lines)
{
    enum { SERVERS = 3, START_MS = 30000 };
    char text[512] = "";
    const zkt_server_options o = {.config = joined(lines)};
    zkt_ensemble *e = zkt_ensemble_start(SERVERS, &o);
    const int leader = zkt_ensemble_wait(e, START_MS);
    for (int i = 0; i < SERVERS; i++) {
        (void)strcat(strcat(text, i > 0 ? "," : ""),
                     zkt_server_host(zkt_ensemble_server(e, (leader + i) % SERVERS)));
    }
    say(text);
    while (getchar() != EOF) {
    }
    zkt_ensemble_stop(e);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL;
    const char *data = path && argc > 3 ? argv[3] : NULL;
    static const char only_me[] = "me:016djjlksVQS5RgX3M7biBGyYwY=";

    hosts = getenv("ZKR_SERVERS");
    if (hosts) {
        hosts = strdup(hosts);
        (void)snprintf(base, sizeof(base), "%.*s", (int)(zkt_chroot(hosts) - hosts),
                       hosts);
        (void)setenv("ZKR_SERVERS", base, 1); /* as zkt_direct() expects it */
        const char *front = getenv("ZKT_SERVERS");
        if (front && strcmp(front, base) != 0) {
            (void)unsetenv("ZKR_TEST_DIRECT");
        }
    }
    if (strcmp(verb, "server") == 0) {
        serve(argv + 2);
    } else if (strcmp(verb, "ensemble") == 0) {
        serve_three(argv + 2);
    } else if (strcmp(verb, "subreaper") == 0 && path) {
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        (void)execvp(path, argv + 2);
        return 127;
    } else if (!hosts) {
        usage();
    } else if (strcmp(verb, "proxy") == 0) {
        serve_proxy();
    } else if (strcmp(verb, "clean") == 0) {
        return clean();
    } else if (strcmp(verb, "count") == 0) {
        (void)printf("%d\n", zkt_children_count(hosts, path ? path : "/"));
    } else if (strcmp(verb, "ephemerals") == 0) {
        (void)printf("%lld\n",
                     (long long)zkt_ephemerals_under(hosts, path ? path : ""));
    } else if (!path) {
        usage();
    } else if (strcmp(verb, "put") == 0) {
        put((zkt_node){.path = path}, data);
    } else if (strcmp(verb, "container") == 0) {
        put((zkt_node){.path = path, .flags = ZKT_CONTAINER}, data);
    } else if (strcmp(verb, "private") == 0) {
        put(
            (zkt_node){
                .path = path, .perms = ZKT_ALL, .scheme = "digest", .id = only_me},
            data);
    } else if (strcmp(verb, "acl") == 0 && data) {
        check(zkt_set_acl(hosts, path, atoi(data)), path);
    } else if (strcmp(verb, "rm") == 0) {
        check(zkt_delete(hosts, path), path);
    } else if (strcmp(verb, "clear") == 0) {
        check(zkt_delete_children(hosts, path), path);
    } else if (strcmp(verb, "ls") == 0) {
        list(path);
    } else if (strcmp(verb, "get") == 0 || strcmp(verb, "stat") == 0) {
        get(path, strcmp(verb, "get") == 0);
    } else if (strcmp(verb, "keep") == 0) {
        keep(argv + 2);
    } else if (strcmp(verb, "locks") == 0) {
        make_locks(atoi(path));
    } else if (strcmp(verb, "word") == 0) {
        ask(path);
    } else {
        usage();
    }
    return 0;
}
