/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and resolution of server lists. */
#include <zkr/error.h>

#include "session/resolve.h"
#include "unit.h"

#define NAME_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NAME_255 NAME_63 "." NAME_63 "." NAME_63 "." NAME_63

enum { LIST_LIMIT = 16384 };

/* Every valid form of a connection string is accepted. */
ZKT_UNIT_CASE(good_server_lists_are_accepted)
{
    static const char *const lists[] = {
        "localhost",
        "localhost:2181",
        "a",
        "a:1",
        "a:65535",
        "zk-1.example.org:2181,zk-2.example.org:2181,zk-3.example.org",
        "10.0.0.1:2181",
        "[::1]",
        "[::1]:2181",
        "[2001:db8::1]:2181,[fe80::1%eth0]:2182,c",
        "a:2181/",
        "a:2181/chroot",
        "a/chroot/of/many:parts,with/commas",
        "[::1]/chroot",
        NAME_255,
        NAME_255 ":2181",
    };
    for (size_t i = 0; i < ZKT_COUNT(lists); i++) {
        if (zkr__servers_check(lists[i]) != ZKR_OK) {
            fail_msg("%s: %s", lists[i], zkr_last_error()->message);
        }
    }
}

/* All other lists are refused, and the message says what is wrong. */
ZKT_UNIT_CASE(bad_server_lists_are_refused_with_a_reason)
{
    static const char empty[] = "the server list is empty";
    static const char form[] = "is not host:port[,host:port][/chroot]";
    static const char root[] = "the chroot ";
    static const struct {
        const char *list, *why;
    } rows[] = {
        {NULL, empty},
        {"", empty},
        {"/chroot", empty},
        {",", form},
        {",a", form},
        {"a,", form},
        {"a,/chroot", form},
        {"a,,b", form},
        {":2181", form},
        {"a:", form},
        {"a:0", form},
        {"a:65536", form},
        {"a:99999999999", form},
        {"a:-1", form},
        {"a:+1", form},
        {"a: 1", form},
        {"a:1 ", form},
        {"a:2181x", form},
        {"a:0x10", form},
        {"a:1:2", form},
        {" a:1", form},
        {"a b", form},
        {"a\n", form},
        {"a,b:\t1", form},
        {"::1", form},
        {"2001:db8::1", form},
        {"fe80::1:2181", form},
        {"[::1", form},
        {"[", form},
        {"[]", form},
        {"[]:2181", form},
        {"[::1]2181", form},
        {"[::1]:", form},
        {"[::1]:0", form},
        {"[::1]]:1", form},
        {"a,[b", form},
        {NAME_255 "x", form},
        {"a/b/", root},
        {"a//b", root},
        {"a/b/../c", root},
        {"a//", root},
        {"a/b\001", root},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        int rc = zkr__servers_check(rows[i].list);
        if (rc != ZKR_EINVAL || !strstr(zkr_last_error()->message, rows[i].why)) {
            fail_msg("%s: %d, %s", rows[i].list ? rows[i].list : "NULL", rc,
                     zkr_last_error()->message);
        }
    }
}

/* A list has at most 16384 bytes. */
ZKT_UNIT_CASE(an_endless_list_is_refused)
{
    static char list[LIST_LIMIT + 2];
    for (size_t i = 0; i < LIST_LIMIT + 1; i++) {
        list[i] = i % 2 ? ',' : 'a';
    }
    ZKT_RC(zkr__servers_check(list), ZKR_EINVAL);
    assert_non_null(strstr(zkr_last_error()->message, "longer than 16384"));
    list[LIST_LIMIT - 1] = '\0';
    ZKT_MUST(zkr__servers_check(list));
}

static char why[200];

static void expect_addresses(const char *list, const char *wanted)
{
    char *out = NULL;
    ZKT_MUST(zkr__servers_resolve(list, true, &out, why, sizeof(why)));
    assert_string_equal(out, wanted);
    zkr__mem_free(out);
}

/* Numeric addresses stay, get their port, and lose brackets and repetitions. The chroot stays. */
ZKT_UNIT_CASE(numeric_addresses_are_made_ready_for_libzookeeper)
{
    static const struct {
        const char *list, *wanted;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1:2181"},
        {"127.0.0.1:2182", "127.0.0.1:2182"},
        {"[::1]", "::1:2181"},
        {"[::1]:2182", "::1:2182"},
        {"[2001:DB8:0:0::1]:1", "2001:db8::1:1"},
        {"10.0.0.2,10.0.0.1", "10.0.0.2:2181,10.0.0.1:2181"},
        {"10.0.0.1,10.0.0.1:2181,10.0.0.1", "10.0.0.1:2181"},
        {"10.0.0.1:1,10.0.0.1:12,10.0.0.1:1", "10.0.0.1:1,10.0.0.1:12"},
        {"10.0.0.1:12,10.0.0.1:1", "10.0.0.1:12,10.0.0.1:1"},
        {"127.0.0.1/a/b", "127.0.0.1:2181/a/b"},
        {"127.0.0.1:1,[::1]:2/a", "127.0.0.1:1,::1:2/a"},
        {"127.0.0.1/", "127.0.0.1:2181"},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        expect_addresses(rows[i].list, rows[i].wanted);
    }
}

/* A host name becomes numeric addresses, each with the port. */
ZKT_UNIT_CASE(a_name_becomes_numeric_addresses)
{
    char *out = NULL;
    ZKT_MUST(zkr__servers_resolve("localhost:2183/a", true, &out, why, sizeof(why)));
    assert_true(strstr(out, "127.0.0.1:2183") || strstr(out, "::1:2183"));
    assert_null(strstr(out, "localhost"));
    assert_string_equal(out + strlen(out) - 2, "/a");
    zkr__mem_free(out);
}

/* An impossible host name is left out without a query. If it is the only name, resolution fails. */
ZKT_UNIT_CASE(a_name_that_cannot_be_resolved_is_left_out)
{
    char *out = NULL;
    expect_addresses("no..host,127.0.0.1", "127.0.0.1:2181");
    expect_addresses("127.0.0.1,no..host/a", "127.0.0.1:2181/a");
    why[0] = '\0';
    int rc =
        zkr__servers_resolve("no..host,no..host:1/a", true, &out, why, sizeof(why));
    ZKT_RC(rc, ZKR_ECONNLOSS);
    assert_null(out);
    assert_non_null(strstr(why, "cannot resolve no..host: "));
}

/* In a list of even length, any one address may be repeated at the end. */
ZKT_UNIT_CASE(libzookeeper_gets_an_odd_number_of_addresses)
{
    static const struct {
        const char *list, *wanted[4];
    } rows[] = {
        {"a:1", {"a:1", "a:1"}},
        {"a:1,b:2", {"a:1,b:2,a:1", "a:1,b:2,b:2", "a:1,b:2,a:1"}},
        {"a:1,::1:2/c,d/e,f", {"a:1,::1:2,a:1/c,d/e,f", "a:1,::1:2,::1:2/c,d/e,f"}},
        {"a:1,b:2,c:3/d,e", {"a:1,b:2,c:3/d,e", "a:1,b:2,c:3/d,e"}},
        {"a:1,b:2,c:3,d:4",
         {"a:1,b:2,c:3,d:4,a:1", "a:1,b:2,c:3,d:4,b:2", "a:1,b:2,c:3,d:4,c:3",
          "a:1,b:2,c:3,d:4,d:4"}},
    };
    for (size_t i = 0; i < ZKT_COUNT(rows); i++) {
        for (unsigned pick = 0; pick < 4 && rows[i].wanted[pick]; pick++) {
            char *odd = zkr__servers_odd(rows[i].list, pick);
            assert_string_equal(odd, rows[i].wanted[pick]);
            zkr__mem_free(odd);
        }
    }
    zkt_allow_allocations(0);
    assert_null(zkr__servers_odd("a:1", 0));
    assert_null(zkr__servers_odd("a:1,b:2", 0));
    zkt_allow_allocations(-1);
}

/* Each failed allocation is reported, and leaks nothing. */
ZKT_UNIT_CASE(resolving_needs_memory)
{
    int rc = ZKR_ENOMEM;
    int64_t failures = 0;
    char *out = NULL;
    while (rc != ZKR_OK) {
        ZKT_RC(rc, ZKR_ENOMEM);
        assert_null(out);
        zkt_allow_allocations(failures++);
        rc = zkr__servers_resolve("10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4/a", true, &out,
                                  why, sizeof(why));
        zkt_allow_allocations(-1);
    }
    assert_true(failures > 2);
    zkr__mem_free(out);
}

/* Lists of numeric addresses are recognised without a resolver. */
ZKT_UNIT_CASE(numeric_lists_are_told_from_names)
{
    assert_true(zkr__servers_numeric("10.0.0.1"));
    assert_true(zkr__servers_numeric("10.0.0.1:2181,[::1]:2182,[::2]/a/b,c"));
    assert_false(zkr__servers_numeric("localhost"));
    assert_false(zkr__servers_numeric("10.0.0.1,zk.example.org:2182,10.0.0.2"));
    assert_false(zkr__servers_numeric("10.0.0.1,10.0.0.2.example.org/a"));
}

/* Resolvers change the order of addresses from one answer to the next. The order does not matter. */
ZKT_UNIT_CASE(the_order_of_addresses_does_not_count)
{
    assert_true(zkr__servers_same("10.0.0.1:1", "10.0.0.1:1"));
    assert_true(zkr__servers_same("10.0.0.1:1,::1:2/a,b", "::1:2,10.0.0.1:1/a,b"));
    assert_false(zkr__servers_same("10.0.0.1:1", "10.0.0.1:1,10.0.0.2:1"));
    assert_false(zkr__servers_same("10.0.0.1:1,10.0.0.2:1", "10.0.0.1:1"));
    assert_false(zkr__servers_same("10.0.0.1:1", "10.0.0.1:11"));
    assert_false(zkr__servers_same("10.0.0.1:1,10.0.0.2:1", "10.0.0.1:1,10.0.0.3:1"));
}
