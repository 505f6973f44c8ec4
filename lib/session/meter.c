/* SPDX-License-Identifier: Apache-2.0 */
#include "session/meter.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/table.h"

/* --- durations --- */

#define US INT64_C(1000)
#define S INT64_C(1000000000)

static const struct {
    int64_t ns;
    const char *text;
} bounds[ZKR__BOUNDS] = {
    {1000 * US, "0.001"}, {2500 * US, "0.0025"}, {5000 * US, "0.005"},
    {10000 * US, "0.01"}, {25000 * US, "0.025"}, {50000 * US, "0.05"},
    {100000 * US, "0.1"}, {250000 * US, "0.25"}, {500000 * US, "0.5"},
    {S, "1.0"},           {5 * S / 2, "2.5"},    {5 * S, "5.0"},
    {10 * S, "10.0"},     {60 * S, "60.0"},      {600 * S, "600.0"},
    {3600 * S, "3600.0"},
};

void zkr__histogram_add(struct zkr__histogram *h, int64_t ns)
{
    ns = zkr__later(ns, 0);
    int i = 0;
    while (i < ZKR__BOUNDS && ns > bounds[i].ns) {
        i++;
    }
    h->counts[i]++;
    h->sum_ns += ns;
}

const char *zkr__histogram_bound(int i)
{
    return i < ZKR__BOUNDS ? bounds[i].text : "+Inf";
}

/* --- meters --- */

static struct zkr__meter *make(struct zkr__meters *meters, const char *path)
{
    size_t size = strlen(path) + 1;
    struct zkr__meter *m = zkr__mem_alloc(sizeof(*m) + size);
    if (!m) {
        return NULL;
    }
    char *copy = (char *)(m + 1);
    memcpy(copy, path, size);
    m->path = copy;
    if (!zkr__path_table_add(&meters->by_path, &m->by_path, m->path)) {
        zkr__mem_free(m);
        return NULL;
    }
    DL_APPEND(meters->list, m);
    meters->count++;
    return m;
}

struct zkr__meter *zkr__meter_of(struct zkr__meters *meters, const char *path)
{
    struct zkr__path_entry *entry = zkr__path_table_find(&meters->by_path, path);
    if (entry) {
        return ZKR__OWNER_OF(entry, struct zkr__meter, by_path);
    }
    struct zkr__meter *m = meters->count < ZKR__METERS ? make(meters, path) : NULL;
    meters->other.path = "other"; /* also used if there is no memory for a meter */
    return m ? m : &meters->other;
}

void zkr__meters_free(struct zkr__meters *meters)
{
    while (meters->list) {
        struct zkr__meter *m = meters->list;
        DL_DELETE(meters->list, m);
        zkr__path_table_remove(&meters->by_path, &m->by_path);
        zkr__mem_free(m);
    }
}
