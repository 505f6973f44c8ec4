/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the sequence numbers, on a real server with a changed count, because it would take 2^31 creates to reach
 * the end. The count is the parent's cversion in the snapshot file.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "actor.h"
#include "fixture.h"
#include "queue/claim.h"

enum { SESSION_MS = 10000, PATIENCE_MS = 30000, SEAL = 13 };

/* --- the snapshot --- */

struct file {
    char path[1024];
    unsigned char *bytes;
    size_t size;
};

static void find_newest(const char *dir, struct file *f)
{
    char folder[256], newest[256] = "";
    (void)snprintf(folder, sizeof(folder), "%s/data/version-2", dir);
    DIR *d = opendir(folder);
    if (!d) {
        (void)snprintf(folder, sizeof(folder), "%s/version-2", dir);
        d = opendir(folder);
    }
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        bool snapshot = strncmp(e->d_name, "snapshot.", 9) == 0;
        if (snapshot &&
            strtoull(e->d_name + 9, NULL, 16) >= strtoull(newest, NULL, 16)) {
            (void)snprintf(newest, sizeof(newest), "%s", e->d_name + 9);
        }
    }
    closedir(d);
    assert_true(newest[0] != '\0');
    (void)snprintf(f->path, sizeof(f->path), "%s/snapshot.%s", folder, newest);
}

static void load(struct file *f)
{
    FILE *in = fopen(f->path, "rb");
    assert_non_null(in);
    f->bytes = calloc(1, 1 << 22);
    f->size = fread(f->bytes, 1, 1 << 22, in);
    assert_int_equal(fclose(in), 0);
}

static void save(struct file *f)
{
    FILE *out = fopen(f->path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f->bytes, 1, f->size, out), f->size);
    assert_int_equal(fclose(out), 0);
    free(f->bytes);
}

static void put_number(unsigned char *at, uint64_t value, int size)
{
    for (int i = 0; i < size; i++) {
        at[i] = (unsigned char)(value >> (8 * (size - 1 - i)));
    }
}

static uint64_t get_number(const unsigned char *at, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++) {
        value = value << 8 | at[i];
    }
    return value;
}

/* Update the seals in the stream. A seal is the Adler-32 of everything before it, as a long, and the string "/". */
static int each_seal(struct file *f, const struct file *sealed)
{
    static const unsigned char slash[] = {0, 0, 0, 1, '/'};
    uint32_t a = 1, b = 0, old_a = 1, old_b = 0;
    int seals = 0;
    for (size_t i = 0; i < f->size; i++) {
        if (i + SEAL <= f->size &&
            memcmp(f->bytes + i + 8, slash, sizeof(slash)) == 0 &&
            get_number(sealed->bytes + i, 8) == (old_b << 16 | old_a)) {
            put_number(f->bytes + i, b << 16 | a, 8);
            seals++;
        }
        a = (a + f->bytes[i]) % 65521;
        b = (b + a) % 65521;
        old_a = (old_a + sealed->bytes[i]) % 65521;
        old_b = (old_b + old_a) % 65521;
    }
    return seals;
}

/*
 * Set the cversion of a node, which consists of: path, data, ACL number, czxid, mzxid, ctime, mtime, version,
 * cversion, ...
 */
static void set_cversion(struct file *f, const char *path, uint32_t cversion)
{
    size_t len = strlen(path);
    for (size_t i = 4; i + len + 56 < f->size; i++) {
        if (get_number(f->bytes + i - 4, 4) == len &&
            memcmp(f->bytes + i, path, len) == 0) {
            unsigned char *data = f->bytes + i + len;
            size_t data_len = get_number(data, 4);
            data_len = data_len == UINT32_MAX ? 0 : data_len;
            put_number(data + 4 + data_len + 8 + 4 * 8 + 4, cversion, 4);
            return;
        }
    }
    fail_msg("%s is not in the snapshot", path);
}

/* Start a server with these paths, which @make creates. The next child of each path gets the number @next. */
static zkt_server *server_with_counts(void (*make)(const char *hosts),
                                      const char *const *paths,
                                      size_t count,
                                      uint32_t next)
{
    zkt_server *s = zkt_server_start(NULL);
    make(zkt_server_host(s));
    zkt_server_restart(s, false); /* a starting server writes a snapshot */
    zkt_server_kill(s);
    struct file f;
    find_newest(zkt_server_dir(s), &f);
    load(&f);
    struct file sealed = f;
    sealed.bytes = malloc(f.size);
    memcpy(sealed.bytes, f.bytes, f.size);
    for (size_t i = 0; i < count; i++) {
        set_cversion(&f, paths[i], next);
    }
    assert_true(each_seal(&f, &sealed) >= 1);
    free(sealed.bytes);
    save(&f);
    zkt_server_restart(s, false);
    return s;
}

static void make_path(const char *hosts)
{
    assert_int_equal(zkt_create_path(hosts, zkt_path()), ZKT_OK);
}

/* Start a server on which the next child of the test's path gets this number. */
static zkt_server *server_with_count(uint32_t next)
{
    return server_with_counts(make_path, (const char *const[]){zkt_path()}, 1, next);
}

/* --- the log --- */

static atomic_int warnings, kept;

static void count_warnings(int level, const char *line, void *ctx)
{
    if (level == ZKR_LOG_WARN && strstr(line, "event=sequence_high")) {
        atomic_fetch_add(&warnings, 1);
    }
    if (level == ZKR_LOG_WARN && strstr(line, "event=path_kept")) {
        atomic_fetch_add(&kept, 1);
    }
}

static zkr_client *client_with(const char *hosts, zkr_client_options o)
{
    o.session_timeout_ms = SESSION_MS;
    o.log = count_warnings;
    atomic_store(&warnings, 0);
    atomic_store(&kept, 0);
    return zkt_client_with(hosts, &o);
}

static const zkr_client_options open_to_all = ZKR_CLIENT_OPTIONS_INIT;

static zkr_client *client_with_log(const char *hosts)
{
    return client_with(hosts, open_to_all);
}

static void count_lower_tokens(int level, const char *line, void *ctx)
{
    if (level == ZKR_LOG_WARN && strstr(line, "event=token_lower")) {
        atomic_fetch_add(&warnings, 1);
    }
}

static int64_t acquire_and_read_token(zkr_mutex *m)
{
    int64_t token;
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_fencing_token(m, &token));
    ZKT_MUST(zkr_mutex_release(m));
    return token;
}

/* A server whose data were restored gives lower tokens: one warning, and none while tokens rise. */
ZKT_CASE(a_lower_token_is_said)
{
    zkt_server *s = zkt_server_start(NULL);
    zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
    o.session_timeout_ms = SESSION_MS;
    o.log = count_lower_tokens;
    atomic_store(&warnings, 0);
    zkr_client *c = zkt_client_with(zkt_server_host(s), &o);
    zkr_mutex *m = zkt_mutex(c), *other = zkt_mutex_at(c, "/other", NULL);
    int64_t before = acquire_and_read_token(m);
    for (int i = 0; i < 10; i++) {
        int64_t token = acquire_and_read_token(m);
        assert_true(token > before);
        before = token;
    }
    zkt_server_restart(s, true);
    assert_true(acquire_and_read_token(m) < before);
    ZKT_BECOMES(atomic_load(&warnings), 1, PATIENCE_MS);
    (void)acquire_and_read_token(other);
    (void)acquire_and_read_token(m);
    ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    assert_int_equal(atomic_load(&warnings), 1);
}

static int64_t acquire_and_read_sequence(zkr_mutex *m)
{
    char node[256];
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    return strtoll(strrchr(node, '-') + 1, NULL, 10);
}

/* From 2^30 on, there is one warning, and an empty path restarts its sequence numbers. */
ZKT_CASE(a_high_count_starts_again_when_the_path_is_empty)
{
    const int64_t high = INT64_C(1) << 30;
    zkt_server *s = server_with_count((uint32_t)high);
    zkr_client *c = client_with_log(zkt_server_host(s));
    zkr_mutex *m = zkt_mutex(c);
    struct zkt_actor actor;
    assert_int_equal(acquire_and_read_sequence(m), high);
    zkt_actor_queue(&actor, c, m, NULL);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkt_actor_acquired(&actor));
    assert_int_equal(strtoll(strrchr(actor.node, '-') + 1, NULL, 10), high + 1);
    ZKT_MUST(zkt_actor_end(&actor));
    ZKT_EVENTUALLY(!zkt_exists(zkt_server_host(s), zkt_path()), PATIENCE_MS);
    assert_int_equal(acquire_and_read_sequence(m), 0);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_BECOMES(atomic_load(&warnings), 1, PATIENCE_MS);
}

/* --- the creator of the path --- */

static const zkr_client_options with_credentials = {.size = sizeof(zkr_client_options),
                                                    .auth_scheme = "digest",
                                                    .auth_cert = "user:secret",
                                                    .auth_cert_len = 11,
                                                    .acl = &ZOO_CREATOR_ALL_ACL};

/* Without ADMIN, nobody sees the complete ACL. */
static struct ACL no_admin[] = {
    {ZKT_ALL & ~ZKT_ADMIN, {(char *)(uintptr_t) "auth", (char *)(uintptr_t) ""}}};
static const struct ACL_vector no_admin_acl = {1, no_admin};
static const zkr_client_options without_admin = {.size = sizeof(zkr_client_options),
                                                 .auth_scheme = "digest",
                                                 .auth_cert = "user:secret",
                                                 .auth_cert_len = 11,
                                                 .acl = &no_admin_acl};

enum { PATHS = 6, BY_CLIENTS = 2 };
static const struct {
    const char *name;
    const zkr_client_options *options;
    bool ours;
} owned[PATHS] = {
    {"data", &open_to_all, false},       {"stricter", &open_to_all, false},
    {"wider", &with_credentials, false}, {"same", &open_to_all, true},
    {"hidden", &without_admin, false},   {"creator", &with_credentials, true},
};

static const char *owned_path(size_t i)
{
    return zkt_child(owned[i].name);
}

/* Let clients create the last paths, and an administrator the others. */
static void make_owned(const char *hosts)
{
    for (size_t i = 0; i < PATHS; i++) {
        if (i < PATHS - BY_CLIENTS) {
            assert_int_equal(zkt_create_path(hosts, owned_path(i)), ZKT_OK);
            continue;
        }
        zkr_client *c = client_with(hosts, *owned[i].options);
        zkr_mutex *m = zkt_mutex_at(c, owned_path(i), NULL);
        zkt_in_and_out(m);
        zkt_destroy(m);
        zkt_close(c);
    }
    assert_int_equal(zkt_set(hosts, owned_path(0), "theirs"), ZKT_OK);
    assert_int_equal(zkt_set_acl(hosts, owned_path(1), ZKT_ALL & ~ZKT_WRITE), ZKT_OK);
}

/*
 * A path with a high count is deleted only if it is as this client would create it. Any other path remains, because its
 * creator may rely on its data or its ACL, and one line in the log reports that.
 */
ZKT_CASE(with_a_high_count_only_a_path_like_ours_is_deleted)
{
    enum { TIMES = 3 };
    const int64_t high = INT64_C(1) << 30;
    const char *paths[PATHS];
    for (size_t i = 0; i < PATHS; i++) {
        paths[i] = owned_path(i);
    }
    zkt_server *s = server_with_counts(make_owned, paths, PATHS, (uint32_t)high);
    for (size_t i = 0; i < PATHS; i++) {
        zkr_client *c = client_with(zkt_server_host(s), *owned[i].options);
        zkr_mutex *m = zkt_mutex_at(c, owned_path(i), NULL);
        for (int time = 0; time < TIMES; time++) {
            int64_t next = !owned[i].ours ? high + time : time == 0 ? high : time - 1;
            assert_int_equal(acquire_and_read_sequence(m), next);
            ZKT_MUST(zkr_mutex_release(m));
            ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
        }
        ZKT_BECOMES(atomic_load(&kept), owned[i].ours ? 0 : 1, PATIENCE_MS);
        zkt_destroy(m);
        zkt_close(c);
    }
}

static enum zkr__look_ahead look_of(zkr_client *c)
{
    zkr__lock(c);
    const struct zkr__engine *engine = c->engine;
    enum zkr__look_ahead look = engine->claims->k.look;
    zkr__unlock(c);
    return look;
}

/* Numbers may restart while somebody waits. A claim with a high number lists after the event, whatever it has seen. */
ZKT_CASE(with_a_high_count_nobody_looks_ahead)
{
    enum { COUNT = 3 };
    for (int high = 0; high < 2; high++) {
        zkt_server *s = server_with_count((1U << 30) - (high ? 2 : 3));
        zkr_client *clients[COUNT];
        struct zkt_actor actors[COUNT];
        for (int i = 0; i < COUNT; i++) {
            zkr_client_options o = ZKR_CLIENT_OPTIONS_INIT;
            o.session_timeout_ms = SESSION_MS;
            o.look_ahead = 1;
            clients[i] = zkt_client_with(zkt_server_host(s), &o);
            zkt_actor_queue(&actors[i], clients[i], zkt_mutex(clients[i]), NULL);
        }
        assert_int_equal(look_of(clients[1]), ZKR__BEHIND_FIRST);
        assert_int_equal(look_of(clients[2]), high ? ZKR__LOOKS_NOT : ZKR__BEHIND_TWO);
        for (int i = 0; i < COUNT; i++) {
            ZKT_MUST(zkt_actor_end(&actors[i]));
        }
    }
}

/*
 * At the limit, numbers repeat. An acquire is refused with the remedy in the message, and the holder is safe. The
 * remedy takes effect automatically when the path becomes empty.
 */
ZKT_CASE(at_the_limit_a_claim_is_refused)
{
    zkt_server *s = server_with_count(2147483646);
    zkr_client *c = client_with_log(zkt_server_host(s));
    zkr_client *other = zkt_client(zkt_server_host(s), SESSION_MS);
    zkr_mutex *m = zkt_mutex(c);
    zkr_mutex *theirs = zkt_mutex(other);
    assert_int_equal(acquire_and_read_sequence(m), 2147483646);
    for (int i = 0; i < 3; i++) {
        ZKT_RC(zkr_mutex_acquire(theirs, PATIENCE_MS), ZKR_ESEQUENCE);
        assert_non_null(strstr(zkr_last_error()->message, "another path"));
    }
    assert_true(zkr_mutex_is_held(m));
    ZKT_MUST(zkr_client_flush(other, PATIENCE_MS));
    assert_int_equal(zkt_children_count(zkt_server_host(s), zkt_path()), 1);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_EVENTUALLY(!zkt_exists(zkt_server_host(s), zkt_path()), PATIENCE_MS);
    assert_int_equal(acquire_and_read_sequence(theirs), 0);
    ZKT_MUST(zkr_mutex_release(theirs));
}

/* A candidate at the limit fails, and can start again after the path was empty. */
ZKT_CASE(at_the_limit_a_candidacy_ends)
{
    zkt_server *s = server_with_count(2147483646);
    zkr_client *c = zkt_client(zkt_server_host(s), SESSION_MS);
    zkr_leader_latch *a = NULL, *b = NULL;
    ZKT_MUST(zkr_leader_latch_create(&a, c, zkt_path(), "a", NULL));
    ZKT_MUST(zkr_leader_latch_create(&b, c, zkt_path(), "b", NULL));
    ZKT_MUST(zkr_leader_latch_start(a));
    ZKT_MUST(zkr_leader_latch_await(a, PATIENCE_MS));
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_RC(zkr_leader_latch_await(b, PATIENCE_MS), ZKR_ESEQUENCE);
    ZKT_RC(zkr_leader_latch_state(b), ZKR_ESEQUENCE);
    assert_true(zkr_leader_latch_has_leadership(a));
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_stop(a, ZKR_LATCH_SILENT));
    ZKT_EVENTUALLY(!zkt_exists(zkt_server_host(s), zkt_path()), PATIENCE_MS);
    ZKT_MUST(zkr_leader_latch_start(b));
    ZKT_MUST(zkr_leader_latch_await(b, PATIENCE_MS));
    ZKT_MUST(zkr_leader_latch_stop(b, ZKR_LATCH_SILENT));
    ZKT_MUST(zkr_leader_latch_destroy(a));
    ZKT_MUST(zkr_leader_latch_destroy(b));
}
