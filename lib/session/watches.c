/* SPDX-License-Identifier: Apache-2.0 */
#include "session/watches.h"

#include <string.h>

#include "base/mem.h"
#include "base/table.h"

/*
 * A watched path, identified by its hash. The chance that two of ten thousand paths share a hash is 1%. If two do, some
 * bytes are not counted.
 */
struct zkr__watch_cell {
    uint32_t key;        /* 0 = empty */
    uint32_t bytes : 15; /* 0 = only reserved; a longer path is not watched */
    uint32_t asked : 15; /* number of requests without an answer */
    bool set : 1, spare : 1;
};

/* ASKED_MAX is large enough for every claim of a client to have a request for the same path. */
enum { BYTES_MAX = (1 << 15) - 1, ASKED_MAX = BYTES_MAX };

enum { LEAST_ROOM = 64, LENGTH_BYTES = 4 };

static uint32_t key_of(const char *path, bool children)
{
    uint32_t hash =
        (zkr__table_hash(path, strlen(path)) ^ children) * UINT32_C(16777619);
    return hash != 0 ? hash : 1;
}

/* --- the table: open addressing, at most three quarters full --- */

static size_t home_of(uint32_t key, size_t room)
{
    return (key ^ key >> 16) & (room - 1);
}

/* Returns the cell that has @key, or the cell in which @key belongs. */
static size_t place_of(const struct zkr__watch_cell *cells, size_t room, uint32_t key)
{
    size_t at = home_of(key, room);
    while (cells[at].key != 0 && cells[at].key != key) {
        at = (at + 1) & (room - 1);
    }
    return at;
}

static struct zkr__watch_cell *find(const struct zkr__watches *w, uint32_t key)
{
    if (!w->cells) {
        return NULL;
    }
    struct zkr__watch_cell *cell = &w->cells[place_of(w->cells, w->room, key)];
    return cell->key != 0 ? cell : NULL;
}

static bool grow(struct zkr__watches *w)
{
    if (w->cells && w->count + 1 <= w->room / 4 * 3) {
        return true;
    }
    size_t room = w->cells ? 2 * w->room : LEAST_ROOM;
    struct zkr__watch_cell *cells = zkr__mem_alloc(room * sizeof(*cells));
    if (!cells) {
        return false;
    }
    for (size_t i = 0; i < w->room; i++) {
        if (w->cells[i].key != 0) {
            cells[place_of(cells, room, w->cells[i].key)] = w->cells[i];
        }
    }
    zkr__mem_free(w->cells);
    w->cells = cells;
    w->room = room;
    return true;
}

/* Empty a cell. Cells behind it move up, so that searches still find them. */
static void empty(struct zkr__watches *w, struct zkr__watch_cell *cell)
{
    size_t hole = (size_t)(cell - w->cells), mask = w->room - 1;
    for (size_t at = (hole + 1) & mask; w->cells[at].key != 0; at = (at + 1) & mask) {
        size_t from_home = (at - home_of(w->cells[at].key, w->room)) & mask;
        if (from_home >= ((at - hole) & mask)) {
            w->cells[hole] = w->cells[at];
            hole = at;
        }
    }
    w->cells[hole] = (struct zkr__watch_cell){0};
    w->count--;
}

/* Returns the counter of needed watches or of spare watches. */
static int64_t *bytes_with(struct zkr__watch_bytes *bytes, bool spare)
{
    return spare ? &bytes->spare : &bytes->needed;
}

static void drop_unused(struct zkr__watches *w, struct zkr__watch_cell *cell)
{
    if (!cell->set && cell->asked == 0) {
        *bytes_with(&w->bytes, cell->spare) -= cell->bytes;
        empty(w, cell);
    }
}

/* --- room for watches --- */

static int64_t bytes_of(const struct zkr__watches *w, const struct zkr__op *op)
{
    return op->watch == ZKR__WATCH_RESERVED
               ? 0
               : (int64_t)(w->prefix + strlen(op->path) + LENGTH_BYTES);
}

static uint32_t key_of_op(const struct zkr__op *op)
{
    return key_of(op->path, op->kind == ZKR__OP_CHILDREN);
}

bool zkr__watches_fit(const struct zkr__watches *w, const struct zkr__op *op)
{
    bool spare = op->watch == ZKR__WATCH_SPARE;
    bool bounded = spare || op->watch == ZKR__WATCH_NEEDED;
    int64_t room =
        spare ? w->most.spare - w->bytes.spare : w->most.needed - w->bytes.needed;
    int64_t most = bounded && room < BYTES_MAX ? room : BYTES_MAX;
    return find(w, key_of_op(op)) || bytes_of(w, op) <= most;
}

static struct zkr__watch_cell *add(struct zkr__watches *w, const struct zkr__op *op)
{
    if (!grow(w)) {
        return NULL;
    }
    uint32_t key = key_of_op(op);
    int64_t bytes = bytes_of(w, op);
    bool spare = op->watch == ZKR__WATCH_SPARE;
    struct zkr__watch_cell *cell = &w->cells[place_of(w->cells, w->room, key)];
    *cell = (struct zkr__watch_cell){
        .key = key, .bytes = (uint32_t)bytes & BYTES_MAX, .spare = spare};
    w->count++;
    *bytes_with(&w->bytes, spare) += bytes;
    return cell;
}

uint32_t zkr__watches_take(struct zkr__watches *w, const struct zkr__op *op)
{
    struct zkr__watch_cell *cell = find(w, key_of_op(op));
    if (!cell && zkr__watches_fit(w, op)) {
        cell = add(w, op);
    }
    if (!cell || cell->asked == ASKED_MAX) {
        return 0;
    }
    cell->asked++;
    return cell->key;
}

void zkr__watches_answered(struct zkr__watches *w, uint32_t key, bool set)
{
    struct zkr__watch_cell *cell = find(w, key);
    if (cell) {
        cell->asked--;
        cell->set = cell->set || set;
        drop_unused(w, cell);
    }
}

static void fire(struct zkr__watches *w, const char *path, bool children)
{
    struct zkr__watch_cell *cell = find(w, key_of(path, children));
    if (cell) {
        cell->set = false;
        drop_unused(w, cell);
    }
}

void zkr__watches_event(struct zkr__watches *w,
                        const char *path,
                        enum zkr__node_event event)
{
    if (event != ZKR__NODE_CHILDREN) {
        fire(w, path, false);
    }
    if (event != ZKR__NODE_CHANGED) {
        fire(w, path, true);
    }
}

void zkr__watches_free(struct zkr__watches *w)
{
    zkr__mem_free(w->cells);
    w->cells = NULL;
    w->room = w->count = 0;
}
