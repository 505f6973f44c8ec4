/* SPDX-License-Identifier: Apache-2.0 */
/* What it costs that a hold says since when: nothing. Counted at the door. */
#include <string.h>

#include "fixture.h"

enum { SESSION_MS = 4000, PATIENCE_MS = 10000, SHORT_HOLDS = 50 };

static zkr_mutex *with_data(zkr_client *c, const void *data)
{
    zkr_mutex *m = NULL;
    zkr_mutex_options o = ZKR_MUTEX_OPTIONS_INIT;
    o.data = data;
    o.data_len = data ? strlen(data) : 0;
    ZKT_MUST(zkr_mutex_create(&m, c, zkt_path(), &o));
    for (int i = 0; i < 2; i++) { /* make the parents, and watch the directory */
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_release(m));
        ZKT_MUST(zkr_client_flush(c, PATIENCE_MS));
    }
    return m;
}

static bool noted(zkr_mutex *m)
{
    char node[256], data[512] = "";
    ZKT_MUST(zkr_mutex_node(m, node, sizeof(node)));
    assert_int_equal(zkt_get(zkt_servers(), node, data, sizeof(data), NULL), ZKT_OK);
    return strstr(data, "\nheld_since_ms=") != NULL;
}

/* The same requests for a hold that writes since when, and for one of other data, which does not. */
ZKT_CASE(a_lasting_hold_sends_what_it_always_did)
{
    static const char *const data[] = {NULL, "mine"};
    for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
        zkr_mutex *m = with_data(c, data[i]);
        zkt_door_focus(c);
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_EVENTUALLY(zkt_door_count(ZKR__OP_CHECK) >= 4, PATIENCE_MS);
        ZKT_BECOMES(zkt_watches(), 1, PATIENCE_MS);
        int checks = zkt_door_count(ZKR__OP_CHECK);
        assert_int_equal(zkt_door_count(ZKR__OP_CREATE), 1);
        assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 0);
        assert_int_equal(zkt_door_count(ZKR__OP_GET), 1);
        assert_int_equal(zkt_door_count(ZKR__OP_SET), 0);
        assert_in_range(zkt_door_total() - checks, 2, 3); /* one more may just be out */
        assert_int_equal(noted(m), data[i] == NULL);
        ZKT_MUST(zkr_mutex_release(m));
        zkt_destroy(m);
        zkt_close(c);
    }
}

/* Released before its first probe, it has cost nothing. */
ZKT_CASE(short_holds_write_nothing)
{
    zkr_client *c = zkt_client(zkt_servers(), 30000);
    zkr_mutex *m = with_data(c, NULL);
    zkt_door_focus(c);
    for (int i = 0; i < SHORT_HOLDS; i++) {
        ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
        ZKT_MUST(zkr_mutex_release(m));
    }
    assert_int_equal(zkt_door_total(), 2 * SHORT_HOLDS);
    zkt_destroy(m);
}

/* The one behind looks at the node ahead once more, and waits on. */
ZKT_CASE(the_one_behind_asks_once_more)
{
    zkr_client *c = zkt_client(zkt_servers(), SESSION_MS);
    zkr_client *d = zkt_client(zkt_servers(), 30000);
    zkr_mutex *m = with_data(c, NULL), *behind = zkt_mutex(d);
    zkr_ticket *t = NULL;
    zkt_door_focus(d);
    ZKT_MUST(zkr_mutex_acquire(m, PATIENCE_MS));
    ZKT_MUST(zkr_mutex_request(behind, ZKR_FOREVER, NULL, NULL, &t));
    ZKT_EVENTUALLY(noted(m), PATIENCE_MS);
    /* Create, list, the one ahead, its own node; then the one ahead again. */
    ZKT_BECOMES(zkt_door_total(), 5, PATIENCE_MS);
    assert_int_equal(zkt_door_count(ZKR__OP_GET), 3);
    assert_int_equal(zkr_ticket_state(t), ZKR_TICKET_WAITING);
    ZKT_MUST(zkr_mutex_release(m));
    ZKT_MUST(zkr_ticket_wait(t, PATIENCE_MS));
    assert_int_equal(zkt_door_count(ZKR__OP_CHILDREN), 1);
    ZKT_MUST(zkr_ticket_release(t));
    ZKT_MUST(zkr_ticket_destroy(t));
    zkt_destroy(behind);
    zkt_destroy(m);
}
