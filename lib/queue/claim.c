/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/claim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/thread.h"
#include "guardian/guardian.h"
#include "nearby/nearby.h"
#include "queue/directory.h"
#include "queue/engine_state.h"
#include "queue/node_data.h"
#include "session/bound.h"
#include "session/must.h"

/* --- memory --- */

static size_t node_room(const struct zkr__queue *q)
{
    return strlen(q->dir) + 1 + ZKR__NAME_ROOM;
}

/* Reserve room for the watch on the claim's own node. */
static void reserve(struct zkr__claim *claim) ZKR__LOCKED
{
    claim->reserves = true;
    zkr__watch_reserve(claim->q->c, claim->bytes);
}

struct zkr__claim *zkr__claim_make(struct zkr__queue *q,
                                   struct zkr__engine *engine,
                                   const struct zkr__entry *entry)
{
    struct zkr__directory *directory = zkr__queue_directory(q, engine);
    bool ready = directory && (q->keep_ms == 0 || zkr__directory_keeps(directory));
    struct zkr__claim *claim =
        ready ? zkr__mem_alloc(sizeof(*claim) + node_room(q)) : NULL;
    if (!claim) {
        return NULL;
    }
    claim->directory = directory;
    /*
     * The claim needs its own reference, because a downgrade moves it to another queue, which may not have a directory
     * yet.
     */
    directory->refs++;
    claim->q = q;
    q->refs++;
    claim->engine = engine;
    claim->refs = 2;
    claim->live = true;
    claim->bytes = (int)zkr__queue_path_bytes(q);
    engine->node_bytes += claim->bytes;
    claim->once = entry->once;
    claim->give_up_at = entry->deadline == ZKR__NEVER ? 0 : entry->deadline;
    claim->thread = entry->thread != 0 ? entry->thread : zkr__thread_os_id();
    claim->on_change = entry->on_change;
    claim->on_change_ctx = entry->ctx;
    claim->k.keeps_place = q->keeps_place;
    claim->k.has_metadata = q->writes_metadata && q->c->options.lease_probe_ms >= 0;
    DL_APPEND(engine->claims, claim);
    if (q->watch_node) {
        reserve(claim);
    }
    return claim;
}

bool zkr__claim_fits(const struct zkr__queue *q, const struct zkr__engine *engine)
{
    int64_t bytes = zkr__queue_path_bytes(q);
    return engine->node_bytes + bytes <= engine->node_bytes_max &&
           (!q->watch_node || zkr__watch_may_reserve(q->c, bytes));
}

bool zkr__claim_reserve(struct zkr__claim *claim, const struct zkr__queue *q)
{
    bool fits = zkr__watch_may_reserve(q->c, claim->bytes);
    if (q->watch_node && !claim->reserves && fits) {
        reserve(claim);
    }
    return !q->watch_node || claim->reserves;
}

void zkr__claim_recount_bytes(struct zkr__claim *claim)
{
    if (claim->k.phase == ZKR__GONE) {
        claim->engine->node_bytes -= claim->bytes;
        zkr__watch_reserve(claim->q->c, claim->reserves ? -claim->bytes : 0);
        claim->bytes = 0;
    }
}

void zkr__claim_unref(struct zkr__claim *claim)
{
    ZKR__MUST(claim->engine->c, claim->refs > 0);
    if (--claim->refs > 0) {
        return;
    }
    while (zkr__claim_next_behind(claim)) {
    }
    zkr__claim_forget_ahead(claim);
    zkr__claim_forget_node(claim);
    zkr__timer_stop(&claim->engine->timers, &claim->timer);
    zkr__claim_drop_list(claim);
    DL_DELETE(claim->engine->claims, claim);
    zkr__directory_unref(claim->directory);
    zkr__queue_unref(claim->q);
    zkr__mem_free(claim->loss);
    zkr__mem_free(claim->next_near);
    zkr__mem_free(claim);
}

bool zkr__claim_is_behind(const struct zkr__claim *claim)
{
    const struct zkr__claim *first = claim->in_line ? claim->directory->ours : NULL;
    while (first && first->k.phase != ZKR__HELD) {
        first = first->ours_next;
    }
    return first || claim->k.phase == ZKR__PARKED || claim->k.phase == ZKR__READY;
}

bool zkr__claim_is_parked(const struct zkr__claim *claim)
{
    return zkr__claim_is_behind(claim) && claim->k.phase != ZKR__READY;
}

void zkr__claim_wake(struct zkr__claim *claim)
{
    if (claim->sleeper) {
        zkr__cv_signal(claim->sleeper);
    }
}

void zkr__claim_tell_revocations(struct zkr__claim *claim)
{
    struct zkr__queue *q = claim->q;
    if (claim->revocations > 0 && claim->taken && q->on_revocation) {
        q->on_revocation(q);
    }
}

/* --- in its directory --- */

/* Insert the claim by its number, searching from the end, because most new claims have the highest number so far. */
static void enter_directory(struct zkr__claim *claim) ZKR__LOCKED
{
    struct zkr__directory *d = claim->directory;
    ZKR__MUST(d->engine->c, !claim->ours_prev && claim->by_node.path);
    /* Begin with the last claim. */
    struct zkr__claim *after = d->ours ? d->ours->ours_prev : NULL;
    while (after && after->sequence > claim->sequence) {
        after = after == d->ours ? NULL : after->ours_prev;
    }
    if (after) {
        DL_APPEND_ELEM2(d->ours, after, claim, ours_prev, ours_next);
    } else {
        DL_PREPEND2(d->ours, claim, ours_prev, ours_next);
    }
}

static void leave_directory(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->ours_prev) {
        DL_DELETE2(claim->directory->ours, claim, ours_prev, ours_next);
        claim->ours_prev = claim->ours_next = NULL;
    }
}

struct zkr__claim *zkr__claim_in(const struct zkr__directory *d, const char *name)
{
    size_t dir_len = strlen(d->path), len = strlen(name);
    char *path = d->engine->scratch.path;
    if (len >= ZKR__NAME_ROOM) { /* longer than any of our names */
        return NULL;
    }
    memcpy(path, d->path, dir_len);
    path[dir_len] = '/';
    memcpy(path + dir_len + 1, name, len + 1);
    return zkr__claim_at(d->engine, path);
}

void zkr__claim_drop_list(struct zkr__claim *claim)
{
    struct zkr__directory *d = claim->directory;
    ZKR__MUST(d->engine->c, claim->list != ZKR__THIS_LIST || d->askers);
    ZKR__MUST(d->engine->c, claim->list != ZKR__NEXT_LIST || d->later);
    if (claim->list == ZKR__THIS_LIST) {
        DL_DELETE2(d->askers, claim, list_prev, list_next);
    } else if (claim->list == ZKR__NEXT_LIST) {
        DL_DELETE2(d->later, claim, list_prev, list_next);
    }
    claim->list = ZKR__NO_LIST;
}

/* --- the node --- */

/*
 * Writes a random version 4 UUID in the format of java.util.UUID. Returns 0 or errno. There is no fallback to a weaker
 * source.
 */
static int make_guid(char text[ZKR__GUID_LEN + 1])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char raw[16];
    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw)) {
        return errno ? errno : EIO;
    }
    raw[6] = (unsigned char)((raw[6] & 0x0f) | 0x40); /* version 4 */
    raw[8] = (unsigned char)((raw[8] & 0x3f) | 0x80); /* variant 1 */
    char *to = text;
    for (size_t i = 0; i < sizeof(raw); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            *to++ = '-';
        }
        *to++ = hex[raw[i] >> 4];
        *to++ = hex[raw[i] & 0x0f];
    }
    *to = '\0';
    return 0;
}

int zkr__claim_new_name(struct zkr__claim *claim)
{
    zkr__claim_forget_node(claim);
    zkr__mem_free(claim->next_near);
    claim->next_near = NULL;
    struct zkr__directory *d = claim->directory;
    d->at_guardian =
        d->at_guardian || zkr__guardian_directory(d->engine->c, d->path, true);
    char guid[ZKR__GUID_LEN + 1] = "";
    int rc = make_guid(guid);
    if (rc == 0) {
        size_t dir_len = strlen(claim->q->dir);
        memcpy(claim->node, claim->q->dir, dir_len);
        claim->node[dir_len] = '/';
        zkr__name_make(claim->node + dir_len + 1, claim->q->kind, guid);
    }
    return rc;
}

static bool enter_node(struct zkr__claim *claim) ZKR__LOCKED
{
    if (!zkr__path_table_add(&claim->engine->by_node, &claim->by_node, claim->node)) {
        return false;
    }
    enter_directory(claim);
    return true;
}

bool zkr__claim_know_node(struct zkr__claim *claim,
                          const char *path,
                          enum zkr__name_kind kind)
{
    const char *name = zkr__path_name(claim->node);
    size_t dir_len = (size_t)(name - claim->node); /* includes the slash */
    if (!path || strncmp(path, claim->node, dir_len) != 0 ||
        !zkr__name_grew(path + dir_len, name, kind, &claim->sequence)) {
        return false;
    }
    zkr__claim_forget_node(claim);
    memcpy(claim->node, path, strlen(path) + 1);
    return enter_node(claim);
}

void zkr__claim_turn(struct zkr__claim *claim, enum zkr__name_kind kind)
{
    zkr__claim_forget_node(claim);
    zkr__name_turn(claim->node, kind);
    /* If memory for the table runs out, the lease probe still checks the node, and neighbours watch its path. */
    (void)enter_node(claim);
}

void zkr__claim_forget_node(struct zkr__claim *claim)
{
    zkr__path_table_remove(&claim->engine->by_node, &claim->by_node);
    leave_directory(claim);
}

/* --- the data of the node --- */

#define HELD_SINCE "\n" ZKR__FIELD_HELD_SINCE "="
#define TIMEOUT "\n" ZKR__FIELD_TIMEOUT "="

enum { NUMBER_ROOM = sizeof("-9223372036854775808") };
enum { ARG_ROOM = sizeof("\n" ZKR__FIELD_MAX "=") + NUMBER_ROOM };
enum { METADATA_ROOM = sizeof(HELD_SINCE TIMEOUT) + NUMBER_ROOM + NUMBER_ROOM };

/*
 * Returns how many bytes of @owner to write so that a field fits after them. A text with several lines is cut at the
 * end of a line, so that no field is cut.
 */
static size_t fitting(const char *owner)
{
    size_t most = strnlen(owner, ZKR__OWNER_TEXT_MAX - ARG_ROOM), len = most;
    while (owner[most] != '\0' && len > 0 && owner[len] != '\n') {
        len--;
    }
    return len > 0 ? len : most;
}

/*
 * Write @owner, or host/pid/thread if @owner is NULL, and the field for the rule's argument. Returns the length of the
 * text.
 */
static size_t write_owner(const struct zkr__claim *claim,
                          const char *owner,
                          char text[ZKR__OWNER_TEXT_MAX])
{
    const struct zkr__queue *q = claim->q;
    char arg[ARG_ROOM] = "";
    if (q->tells_arg && q->rule_arg > 0) {
        (void)snprintf(arg, sizeof(arg), "\n" ZKR__FIELD_MAX "=%lld",
                       (long long)q->rule_arg);
    }
    int len = owner ? snprintf(text, ZKR__OWNER_TEXT_MAX, "%.*s%s", (int)fitting(owner),
                               owner, arg)
                    : snprintf(text, ZKR__OWNER_TEXT_MAX, "%s/%ld/%ld%s",
                               claim->engine->host, (long)getpid(), claim->thread, arg);
    return len < 0                     ? 0
           : len < ZKR__OWNER_TEXT_MAX ? (size_t)len
                                       : ZKR__OWNER_TEXT_MAX - 1;
}

/* If there is room, append our address to the node's data. */
static void add_address(const struct zkr__claim *claim,
                        struct zkr__creation *creation,
                        char text[ZKR__OWNER_TEXT_MAX]) ZKR__LOCKED
{
    const char *field =
        zkr__claim_hears_news(claim) ? zkr__nearby_field(claim->q->c) : NULL;
    size_t len = field ? strlen(field) : 0, whole = creation->data_len + len;
    if (!field || whole > ZKR__OWNER_TEXT_MAX) {
        return;
    }
    if (creation->data != text) {
        memcpy(text, creation->data, creation->data_len);
    }
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the data have a length */
    memcpy(text + creation->data_len, field, len);
    creation->data = text;
    creation->data_len = whole;
}

void zkr__claim_fill_data(const struct zkr__claim *claim,
                          struct zkr__creation *creation,
                          char text[ZKR__OWNER_TEXT_MAX])
{
    const struct zkr__queue *q = claim->q;
    const char *owner = q->owner ? q->owner : q->c->owner;
    creation->path = claim->node;
    if (q->data) {
        creation->data = q->data;
        creation->data_len = q->data_len;
    } else if (owner && !q->tells_arg) {
        creation->data = owner;
        creation->data_len = strlen(owner);
    } else {
        creation->data = text;
        creation->data_len = write_owner(claim, owner, text);
    }
    add_address(claim, creation, text);
}

char *zkr__claim_metadata(const struct zkr__claim *claim, size_t *len)
{
    if (!claim->k.has_metadata || claim->held_since_ms == 0) {
        return NULL;
    }
    char text[ZKR__OWNER_TEXT_MAX];
    struct zkr__creation plain;
    zkr__claim_fill_data(claim, &plain, text);
    if (plain.data_len > ZKR__PROBE_BYTES / 2) {
        return NULL; /* the request might become too long for a server */
    }
    char *data = zkr__mem_alloc(plain.data_len + METADATA_ROOM);
    if (!data) {
        return NULL;
    }
    if (plain.data_len > 0) {
        memcpy(data, plain.data, plain.data_len);
    }
    int more =
        snprintf(data + plain.data_len, METADATA_ROOM, HELD_SINCE "%lld" TIMEOUT "%lld",
                 (long long)claim->held_since_ms, (long long)claim->q->c->session_ms);
    *len = plain.data_len + (more > 0 ? (size_t)more : 0);
    return data;
}

/* --- the node ahead --- */

static void part(struct zkr__claim *ahead, struct zkr__claim *behind)
{
    DL_DELETE2(ahead->behind, behind, behind_prev, behind_next);
    behind->ahead = NULL;
}

static void forget_before(struct zkr__claim *claim) ZKR__LOCKED
{
    if (claim->before) {
        zkr__path_unwatch(&claim->engine->watchers, &claim->before->watcher);
        zkr__mem_free(claim->before);
        claim->before = NULL;
    }
}

void zkr__claim_forget_ahead(struct zkr__claim *claim)
{
    if (claim->ahead) {
        part(claim->ahead, claim);
    }
    zkr__path_unwatch(&claim->engine->watchers, &claim->ahead_watcher);
    zkr__mem_free(claim->seen);
    zkr__mem_free(claim->near);
    claim->seen = NULL;
    claim->near = NULL;
    forget_before(claim);
}

/*
 * Returns the number of contenders ahead, or 0 if that is not known. A node ahead that has holder metadata is the first
 * in the queue, unless it belongs to a reader.
 */
static int64_t in_front(const struct zkr__claim *claim) ZKR__LOCKED
{
    enum zkr__name_kind kind;
    int64_t sequence;
    const char *path = zkr__path_watched(&claim->ahead_watcher);
    bool first = path && claim->seen && claim->seen->holds &&
                 zkr__name_parse(zkr__path_name(path), &kind, &sequence) &&
                 kind != ZKR__NAME_READ;
    return first ? 1 : claim->place;
}

int64_t zkr__claim_place(const struct zkr__claim *claim)
{
    int64_t ours = 0;
    while (claim->k.phase == ZKR__PARKED && claim->ahead) {
        claim = claim->ahead;
        ours++;
    }
    return claim->k.phase == ZKR__PARKED ? ours + in_front(claim) : ours;
}

bool zkr__claim_stands_behind(const struct zkr__claim *claim, const char *name)
{
    const char *path = zkr__path_watched(&claim->ahead_watcher);
    return path && strcmp(zkr__path_name(path), name) == 0;
}

bool zkr__claim_watch_before(struct zkr__claim *claim, const char *name)
{
    forget_before(claim);
    struct zkr__before *before = zkr__mem_alloc(sizeof(*before));
    char *path = zkr__path_join(claim->q->dir, name);
    if (before) {
        before->claim = claim;
        before->watcher.on_event = claim->engine->on_before;
    }
    if (before && path &&
        zkr__path_watch(&claim->engine->watchers, &before->watcher, path)) {
        claim->before = before;
    } else {
        zkr__mem_free(before);
    }
    zkr__mem_free(path);
    return claim->before != NULL;
}

const char *zkr__claim_before(const struct zkr__claim *claim)
{
    return claim->before ? zkr__path_watched(&claim->before->watcher) : NULL;
}

bool zkr__claim_stand_behind(struct zkr__claim *claim, const char *name)
{
    zkr__claim_forget_ahead(claim);
    ZKR__MUST(claim->engine->c, !claim->ahead && !claim->seen && !claim->before);
    char *path = zkr__path_join(claim->q->dir, name);
    if (!path) {
        return false;
    }
    bool done = true;
    struct zkr__claim *neighbour = zkr__claim_at(claim->engine, path);
    if (neighbour) {
        ZKR__MUST(claim->engine->c, neighbour != claim && neighbour->live);
        claim->ahead = neighbour;
        DL_PREPEND2(neighbour->behind, claim, behind_prev, behind_next);
    } else {
        done = zkr__path_watch(&claim->engine->watchers, &claim->ahead_watcher, path);
    }
    zkr__mem_free(path);
    return done;
}

bool zkr__claim_watch_children(struct zkr__claim *claim)
{
    zkr__claim_forget_ahead(claim);
    return zkr__path_watch(&claim->engine->watchers, &claim->ahead_watcher,
                           claim->q->dir);
}

struct zkr__claim *zkr__claim_next_behind(struct zkr__claim *claim)
{
    struct zkr__claim *behind = claim->behind;
    if (behind) {
        part(claim, behind);
    }
    return behind;
}

/* --- looking ahead --- */

void zkr__claim_probe_later(zkr_client *c)
{
    enum { PART = 16 };
    int64_t pause = zkr__amply_sure(c) ? c->session_ms * ZKR__MS / PART : 0;
    zkr__wake_by(c, zkr__now(c) + pause);
}

void zkr__claim_settle_look_ahead(struct zkr__claim *claim)
{
    zkr_client *c = claim->q->c;
    bool keeps_lease = zkr__claim_keeps_lease(&claim->k);
    if (keeps_lease && !claim->keeps_lease) {
        zkr__claim_probe_later(c);
    }
    c->prepared += keeps_lease - claim->keeps_lease;
    claim->keeps_lease = keeps_lease;
    if (!zkr__claim_watches_before(&claim->k)) {
        forget_before(claim);
    }
}

void zkr__claim_settle_doubt(struct zkr__claim *claim)
{
    bool heeds = claim->k.phase == ZKR__HELD && claim->q->watch_node;
    if (!heeds && !zkr__path_watches(&claim->ahead_watcher)) {
        claim->doubt_at = 0;
    } else if (claim->doubt_at == 0) {
        claim->doubt_at = zkr__engine_doubts_at(claim->engine);
    }
}
