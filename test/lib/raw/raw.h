/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZKT_RAW_H
#define ZKT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ZooKeeper's protocol over one blocking socket: an observer that shares no code with the library. A call may take 5 s,
 * unless zkt_raw_timeout() has set another limit.
 *
 * Results are the server's codes (0, ZKT_NONODE and so on), or ZKT_LOST if the connection broke or the time ran out.
 * After ZKT_LOST, the session object can only be freed. Paths are below the chroot of the connection string. Only one
 * thread may use a session.
 */

enum {
    ZKT_OK = 0,
    ZKT_LOST = -4,
    ZKT_NONODE = -101,
    ZKT_NOAUTH = -102,
    ZKT_NODEEXISTS = -110,
    ZKT_EXPIRED = -112
};

enum { ZKT_EPHEMERAL = 1, ZKT_SEQUENCE = 2, ZKT_CONTAINER = 4 };
enum {
    ZKT_READ = 1,
    ZKT_WRITE = 2,
    ZKT_CREATE = 4,
    ZKT_DELETE = 8,
    ZKT_ADMIN = 16,
    ZKT_ALL = 31
};

typedef struct zkt_raw zkt_raw;

typedef struct zkt_stat {
    int64_t czxid, mzxid, ctime, mtime;
    int32_t version, cversion, aversion;
    int64_t ephemeral_owner;
    int32_t data_length, num_children;
    int64_t pzxid;
} zkt_stat;

typedef struct zkt_list {
    int count;
    char **name;
} zkt_list;

/** A node to create. Zero fields mean empty data, a persistent node, and all permissions for world:anyone. */
typedef struct zkt_node {
    const char *path;
    const void *data;
    size_t data_len;
    int flags;
    int perms;
    const char *scheme;
    const char *id;
} zkt_node;

/* ---- sessions ---- */

/** Returns a new session with at most @timeout_ms, or NULL. */
zkt_raw *zkt_raw_open(const char *hosts, int timeout_ms);

/**
 * Take over a session. If that fails, returns NULL and sets *@rc to ZKT_EXPIRED if the session has ended, else to
 * ZKT_LOST.
 */
zkt_raw *
zkt_raw_resume(const char *hosts, int64_t session_id, const void *passwd16, int *rc);

/** End the session, call zkt_settle(), and free the object. Returns the code of the server's answer. */
int zkt_raw_close(zkt_raw *s);

/** Only close the socket, so that the session lasts until it times out, and free the object. */
void zkt_raw_abandon(zkt_raw *s);

int64_t zkt_raw_id(const zkt_raw *s);
const void *zkt_raw_passwd(const zkt_raw *s); /* 16 bytes */
void zkt_raw_timeout(zkt_raw *s, int64_t ms);

/* ---- requests ---- */

/** @made, which may be NULL, receives the name of the node with its sequence number. */
int zkt_raw_create(zkt_raw *s, const zkt_node *node, char *made, size_t size);

/** Send the request without waiting. The next call skips the reply. */
int zkt_raw_post_create(zkt_raw *s, const zkt_node *node);
int zkt_raw_delete(zkt_raw *s, const char *path);
int zkt_raw_exists(zkt_raw *s, const char *path, bool watch, zkt_stat *st);

/** @size is the room in @data, and then the number of bytes stored. @st may be NULL. */
int zkt_raw_get(zkt_raw *s, const char *path, void *data, size_t *size, zkt_stat *st);
int zkt_raw_set(zkt_raw *s, const char *path, const void *data, size_t size);
/** Give these permissions on the node to world:anyone, and none to others. */
int zkt_raw_set_acl(zkt_raw *s, const char *path, int perms);

/** The caller frees the list with zkt_list_free(), even after an error. */
int zkt_raw_children(zkt_raw *s, const char *path, bool watch, zkt_list *list);
void zkt_list_free(zkt_list *list);
int zkt_raw_auth(zkt_raw *s, const char *scheme, const char *cert);
int zkt_raw_ping(zkt_raw *s);

/** Changes the members of the ensemble. @joining is like "server.3=...", and @leaving like "3". Either may be NULL. */
int zkt_raw_reconfig(zkt_raw *s, const char *joining, const char *leaving);

/** Returns how many watch events have been received so far, while waiting for replies or for an event. */
int zkt_raw_events(const zkt_raw *s);

/** Wait for one more event. */
bool zkt_raw_wait_event(zkt_raw *s, int64_t timeout_ms);

/* ---- one-shots: connect, send one request, disconnect, zkt_settle() ---- */

int zkt_create(const char *hosts, const char *path, const char *data, int flags);
int zkt_delete(const char *hosts, const char *path);
int zkt_set(const char *hosts, const char *path, const char *data);
int zkt_set_acl(const char *hosts, const char *path, int perms);
bool zkt_exists(const char *hosts, const char *path);

/** Get the data as text, truncated to fit. @st may be NULL. */
int zkt_get(const char *hosts, const char *path, char *text, size_t size, zkt_stat *st);
int zkt_children(const char *hosts, const char *path, zkt_list *list);

/** Returns 0 if the path does not exist, or -1 if the server does not answer. */
int zkt_children_count(const char *hosts, const char *path);

/** Delete everything below @path, but not @path itself. */
int zkt_delete_children(const char *hosts, const char *path);

/** Create @path and its missing parents as persistent nodes. */
int zkt_create_path(const char *hosts, const char *path);

/**
 * Call zkr_test_expire_session(), and settle. Returns ZKT_OK, even if the session had already ended, or ZKT_LOST. With
 * server 3.8.0 the client may be left with a silent connection. It then learns of the end only after its own read
 * timeout.
 */
int zkt_expire_session(const char *hosts, int64_t session_id);

#endif
