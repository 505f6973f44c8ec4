/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fourlw.h"
#include "names.h"
#include "plan.h"
#include "raw.h"
#include "store.h"
#include "util.h"

enum { STEP_MS = 10, LOOK_MS = 500 };

volatile sig_atomic_t zkc_signaled;

static zkc_stage *open_stage; /* to clean up when the program ends */

const char *zkc_stage_file(const zkc_stage *s, const char *name, char *out, size_t size)
{
    (void)snprintf(out, size, "%s/%s", s->dir, name);
    return out;
}

void zkc_stage_put(const zkc_stage *s, zkc_record r)
{
    r.at = r.at != 0 ? r.at : zkc_now();
    r.until = r.until != 0 ? r.until : zkc_now();
    zkc_put(s->history, &r);
}

/* ---- processes ---------------------------------------------------------------------- */

/* Between fork and exec: only async-signal-safe calls. */
static _Noreturn void exec_self(pid_t parent, int output, char *const *argv)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(126);
    }
    (void)signal(SIGINT, SIG_IGN); /* Ctrl-C: the coordinator ends us */
    (void)dup2(output, 1);
    (void)dup2(output, 2);
    (void)execv("/proc/self/exe", argv);
    _exit(127);
}

pid_t zkc_stage_spawn(const zkc_stage *s, const char *const *args)
{
    union {
        const char *const *in;
        char *const *out;
    } argv = {args};
    char file[256];
    const pid_t parent = getpid();
    int output = open(zkc_stage_file(s, ZKC_OUTPUT_FILE, file, sizeof file),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_t pid = output < 0 ? -1 : fork();
    if (pid == 0) {
        exec_self(parent, output, argv.out);
    }
    if (pid < 0) {
        zkt_fail("no process: %s", strerror(errno));
    }
    (void)close(output);
    return pid;
}

/*
 * In two lives of three, a client without proxies knows only one server. Such a client stays with a stale leader, or
 * with a follower that is cut off, for as long as that server serves.
 */
static const char *servers_for(const zkc_stage *s, int index, int life)
{
    const int door = index - (ZKC_PROCESSES - ZKC_PROXIED);
    if (door >= 0) {
        return s->servers[door];
    }
    return life % 3 == 0
               ? zkt_ensemble_hosts(s->ensemble)
               : zkt_server_host(zkt_ensemble_server(s->ensemble, index % ZKC_SERVERS));
}

static void spawn_client(zkc_stage *s, int index)
{
    struct zkc_client *c = &s->clients[index];
    char number[16];
    char life[16];
    char seed[24];
    (void)snprintf(number, sizeof number, "%d", index);
    (void)snprintf(life, sizeof life, "%d", ++c->life);
    (void)snprintf(seed, sizeof seed, "%" PRIu64, s->seed);
    const char *const argv[] = {
        "chaos", "client", s->dir, servers_for(s, index, c->life),
        number,  life,     seed,   NULL};
    c->pid = zkc_stage_spawn(s, argv);
}

static void note_crash(zkc_stage *s, const char *who, int status)
{
    if (s->crashed++ == 0) {
        (void)snprintf(s->crash, sizeof s->crash, "%s: %s %d", who,
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* A client has ended: by SIGKILL, which is expected, in order, or by a crash. */
static void bury(zkc_stage *s, int index, int status)
{
    struct zkc_client *c = &s->clients[index];
    char who[32];
    c->pid = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && zkc_is_guarded(index)) {
        zkc_stage_put(s, (zkc_record){.kind = ZKC_KILLED,
                                      .process = (uint8_t)index,
                                      .life = (uint16_t)c->life});
    }
    c->again_at = zkt_now_ms() + zkc_between(&s->random, 0, 800);
    if (WIFEXITED(status) && WEXITSTATUS(status) == ZKC_STATUS_CALM) {
        c->ended = true;
    } else if (WIFEXITED(status) ? WEXITSTATUS(status) != ZKC_STATUS_AGAIN
                                 : WTERMSIG(status) != SIGKILL) {
        (void)snprintf(who, sizeof who, "client %d.%d", index, c->life);
        note_crash(s, who, status);
    }
}

static void tick(zkc_stage *s)
{
    int status;
    for (int i = 0; i < ZKC_PROCESSES; i++) {
        struct zkc_client *c = &s->clients[i];
        if (c->pid > 0 && waitpid(c->pid, &status, WNOHANG) == c->pid) {
            bury(s, i, status);
        }
        if (c->pid == 0 && c->life > 0 && !c->ended && zkt_now_ms() >= c->again_at) {
            spawn_client(s, i);
        }
    }
    if (s->store > 0 && waitpid(s->store, &status, WNOHANG) == s->store) {
        s->store = 0;
        note_crash(s, "the store", status);
    }
    if (s->each_tick != NULL) {
        s->each_tick(s->each_tick_ctx);
    }
}

bool zkc_stage_pass(zkc_stage *s, int64_t ms)
{
    const int64_t end = zkt_now_ms() + ms;
    do {
        tick(s);
        zkt_sleep_ms(STEP_MS);
    } while (zkc_signaled == 0 && zkt_now_ms() < end);
    return zkc_signaled == 0;
}

void zkc_stage_end_process(pid_t *pid)
{
    if (*pid > 0) {
        (void)kill(*pid, SIGKILL);
        while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) {
        }
        *pid = 0;
    }
}

static void end_processes(zkc_stage *s)
{
    for (int i = 0; i < ZKC_PROCESSES; i++) {
        zkc_stage_end_process(&s->clients[i].pid);
        s->clients[i].life = 0;
    }
    zkc_stage_end_process(&s->store);
}

bool zkc_stage_calm(zkc_stage *s, int64_t ms)
{
    const int64_t end = zkt_now_ms() + ms;
    zkc_stage_put(s, (zkc_record){.kind = ZKC_CALM});
    atomic_store(&s->control->phase, ZKC_CALMING);
    while (zkt_now_ms() < end && zkc_stage_pass(s, STEP_MS)) {
        bool ended = true;
        for (int i = 0; i < ZKC_PROCESSES; i++) {
            ended = ended && s->clients[i].ended;
        }
        if (ended) {
            return true;
        }
    }
    return false;
}

/* ---- servers ------------------------------------------------------------------------ */

static int through_proxy(void *ctx, int from, int to, int port)
{
    zkc_stage *s = ctx;
    char target[32];
    (void)snprintf(target, sizeof target, "127.0.0.1:%d", port);
    zkt_proxy_stop(s->links[from][to]); /* left by an earlier attempt */
    s->links[from][to] = zkt_proxy_start_raw(target);
    return zkt_proxy_port(s->links[from][to]);
}

/* Starts two proxies with the same port at the two addresses of one name. */
static void start_doors(zkc_stage *s, int client, int server)
{
    zkt_proxy **doors = s->doors[client][server];
    const char *target = zkt_server_host(zkt_ensemble_server(s->ensemble, server));
    char *servers = s->servers[client];
    const size_t used = strlen(servers);
    doors[0] = zkt_proxy_start(target); /* at ZKC_HERE */
    doors[1] = zkt_proxy_start_at(ZKC_THERE, zkt_proxy_port(doors[0]), target);
    zkt_proxy_cut(doors[1]);
    (void)snprintf(servers + used, sizeof s->servers[client] - used,
                   "%s" ZKC_NAME ":%d", server > 0 ? "," : "", server,
                   zkt_proxy_port(doors[0]));
}

void zkc_stage_limit(zkt_server *server, int which)
{
    static const int limits[][2] = {{ZKC_SESSION_MS / 2, ZKC_SESSION_MS / 2},
                                    {ZKC_SESSION_MS / 2, ZKC_SESSION_MS},
                                    {ZKC_SESSION_MS, ZKC_SESSION_MS}};
    const int *chosen = limits[which % (int)(sizeof limits / sizeof *limits)];
    zkt_server_limits(server, chosen[0], chosen[1]);
}

/*
 * A server that comes back takes the leader's whole state. ZooKeeper 3.8 can corrupt its own state if it takes only the
 * missed transactions while clients write: the synchronization fails half-way, and the server logs the same
 * transactions again. If it is killed then, it retains nodes that are long deleted elsewhere and that cannot be deleted
 * (ZOOKEEPER-4394, ZOOKEEPER-4712). A client of that server waits behind such nodes for ever.
 */
static void start_servers(zkc_stage *s, zkc_kinds kinds)
{
    /* A configuration that all servers share has no room for a link for each pair. */
    const bool fixed = !zkc_has_kind(kinds, ZKC_RECONFIGURED);
    const zkt_server_options o = {.link_port = fixed ? through_proxy : NULL,
                                  .link_ctx = s,
                                  .config = fixed ? NULL : "reconfigEnabled=true",
                                  .fsync = 1, /* the nemesis slows it down */
                                  .jvm_arguments =
                                      "-Dzookeeper.forceSnapshotSync=true "
                                      /* As in production; tests use other numbers. */
                                      "-Dzookeeper.nio.numSelectorThreads=2 "
                                      "-Dzookeeper.nio.numWorkerThreads=4 "
                                      /* The digest of ZKC_SUPER. */
                                      "-Dzookeeper.DigestAuthenticationProvider."
                                      "superDigest=super:1tm2VJ8QGIDIgyMX71meWABJeAM="};
    s->ensemble = zkt_ensemble_start(ZKC_SERVERS, &o);
    for (int i = 0; i < ZKC_SERVERS; i++) {
        zkt_server *server = zkt_ensemble_server(s->ensemble, i);
        zkc_stage_limit(server, i);
        s->hosts[i] = zkt_bad_host(zkt_server_dir(server));
    }
    for (int i = 0; i < ZKC_PROXIED; i++) {
        for (int j = 0; j < ZKC_SERVERS; j++) {
            start_doors(s, i, j);
        }
    }
}

zkt_proxy *zkc_stage_door(const zkc_stage *s, int client, int server)
{
    return s->doors[client][server][atomic_load(&s->control->moved) >> server & 1];
}

static void make_counters(zkc_stage *s)
{
    const char *hosts = zkt_ensemble_hosts(s->ensemble);
    char path[64];
    for (int i = 0; i < ZKC_PATHS; i++) {
        (void)snprintf(path, sizeof path, "%s/%d", ZKC_COUNTERS, i);
        const int64_t end = zkt_now_ms() + 30000;
        while (zkt_create_path(hosts, path) != ZKT_OK ||
               zkt_set(hosts, path, "0") != ZKT_OK) {
            if (zkt_now_ms() >= end) {
                zkt_fail("%s cannot be made", path);
            }
            zkt_sleep_ms(50);
        }
    }
}

int zkc_stage_leader(const zkc_stage *s)
{
    int leader = -1;
    for (int i = 0; i < ZKC_SERVERS; i++) {
        const char *host = zkt_server_host(zkt_ensemble_server(s->ensemble, i));
        enum zkr__test_mode mode = zkt_mode_within(host, LOOK_MS);
        if (mode == ZKT_MODE_NONE || (mode == ZKT_MODE_LEADER && leader >= 0)) {
            return -1;
        }
        leader = mode == ZKT_MODE_LEADER ? i : leader;
    }
    return leader;
}

int zkc_stage_wait_leader(zkc_stage *s, int64_t ms)
{
    const int64_t end = zkt_now_ms() + ms;
    int leader;
    while ((leader = zkc_stage_leader(s)) < 0 && zkt_now_ms() < end &&
           zkc_stage_pass(s, 50)) {
    }
    return leader;
}

/* ---- begin and end ------------------------------------------------------------------ */

static void end_at_exit(void)
{
    if (open_stage != NULL) {
        end_processes(open_stage);
        zkc_stage_remove_dir(open_stage);
        open_stage = NULL;
    }
}

static void make_files(zkc_stage *s)
{
    const char *env = getenv("TMPDIR");
    char file[256];
    /* Named like the directories of test/lib, which therefore removes what a killed program left. */
    (void)snprintf(s->dir, sizeof s->dir, "%s/zkt-%d-chaos-XXXXXX",
                   env != NULL && *env != '\0' ? env : "/tmp", (int)getpid());
    if (mkdtemp(s->dir) == NULL) {
        zkt_fail("no temporary directory: %s", strerror(errno));
    }
    open_stage = s;
    (void)atexit(end_at_exit);
    s->history =
        zkc_history_open(zkc_stage_file(s, ZKC_HISTORY_FILE, file, sizeof file));
    int fd = open(zkc_stage_file(s, ZKC_CONTROL_FILE, file, sizeof file),
                  O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->history < 0 || fd < 0 || ftruncate(fd, sizeof *s->control) != 0) {
        zkt_fail("%s: %s", s->dir, strerror(errno));
    }
    void *memory =
        mmap(NULL, sizeof *s->control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        zkt_fail("mmap: %s", strerror(errno));
    }
    s->control = memory;
    (void)close(fd);
}

void zkc_stage_begin(zkc_stage *s, uint64_t seed)
{
    char script[256];
    *s = (zkc_stage){.seed = seed, .random = ~seed, .history = -1};
    make_files(s);
    zkt_bad_hosts(zkc_stage_file(s, ZKC_JAVA_FILE, script, sizeof script));
}

void zkc_stage_open(zkc_stage *s, uint64_t seed, zkc_kinds kinds)
{
    char socket[256];
    zkc_stage_begin(s, seed);
    (void)zkc_stage_file(s, ZKC_STORE_FILE, socket, sizeof socket);
    const char *const argv[] = {"chaos", "store", socket, NULL};
    s->store = zkc_stage_spawn(s, argv);
    start_servers(s, kinds);
    make_counters(s);
}

void zkc_stage_start_clients(zkc_stage *s)
{
    for (int i = 0; i < ZKC_PROCESSES; i++) {
        spawn_client(s, i);
    }
}

void zkc_stage_kill(zkt_server *server)
{
    const pid_t pid = zkt_server_pid(server);
    zkt_server_kill(server);
    if (pid > 0) {
        zkt_bad_clock_killed(pid);
    }
}

void zkc_stage_end(zkc_stage *s)
{
    end_processes(s);
    for (int i = 0; s->ensemble != NULL && i < ZKC_SERVERS; i++) {
        zkc_stage_kill(zkt_ensemble_server(s->ensemble, i));
    }
    zkt_ensemble_stop(s->ensemble);
    s->ensemble = NULL;
    for (int i = 0; i < ZKC_SERVERS * ZKC_SERVERS; i++) {
        zkt_proxy_stop(s->links[i / ZKC_SERVERS][i % ZKC_SERVERS]);
        s->links[i / ZKC_SERVERS][i % ZKC_SERVERS] = NULL;
    }
    for (int i = 0; i < ZKC_PROXIED * ZKC_SERVERS * ZKC_PLACES; i++) {
        zkt_proxy **door = &s->doors[i / ZKC_PLACES / ZKC_SERVERS]
                                    [i / ZKC_PLACES % ZKC_SERVERS][i % ZKC_PLACES];
        zkt_proxy_stop(*door);
        *door = NULL;
    }
    if (s->history >= 0) {
        (void)close(s->history);
        s->history = -1;
    }
    if (s->control != NULL) {
        (void)munmap(s->control, sizeof *s->control);
        s->control = NULL;
    }
}

void zkc_stage_keep(const zkc_stage *s, const char *name)
{
    const char *env = getenv("TMPDIR");
    char from[256];
    char to[256];
    (void)snprintf(to, sizeof to, "%s/chaos-%" PRIu64 "-%d.%s",
                   env != NULL && *env != '\0' ? env : "/tmp", s->seed, (int)getpid(),
                   name);
    if (rename(zkc_stage_file(s, name, from, sizeof from), to) == 0) {
        (void)printf("kept: %s\n", to);
    }
}

void zkc_stage_remove_dir(zkc_stage *s)
{
    static const char *const files[] = {ZKC_HISTORY_FILE, ZKC_TOLD_FILE,
                                        ZKC_CONTROL_FILE, ZKC_STORE_FILE,
                                        ZKC_OUTPUT_FILE,  ZKC_JAVA_FILE};
    char file[256];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)unlink(zkc_stage_file(s, files[i], file, sizeof file));
    }
    (void)rmdir(s->dir);
    open_stage = NULL;
}
