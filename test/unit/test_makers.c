/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of other programs are recognised by their names. */
#include <string.h>

#include "queue/makers.h"
#include "queue/names.h"
#include "unit.h"

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define HEX "0123456789ab4def8123456789abcdef"
#define N "0000000007"

static const struct {
    const char *name, *maker; /* @maker NULL = unknown */
    enum zkr__regard regard;
    bool ordered, vague;
} names[] = {
    {HEX "__lock__" N, "kazoo", ZKR__IGNORES, true, false},
    {HEX "__rlock__" N, "kazoo", ZKR__IGNORES, false, false},
    {HEX "__wlock__" N, "kazoo", ZKR__IGNORES, false, false},
    {"lock-" HEX "-" N, "aiozk", ZKR__WAITS, true, false},
    {"candidate-" HEX "-" N, "aiozk", ZKR__WAITS, true, false},
    {"latch-worker-3-" N, "zookeeper-async", ZKR__WAITS, true, true},
    {UUID "_" N, "zookeeper-async", ZKR__IGNORES, true, true},
    {N, "Vitess", ZKR__IGNORES, true, true},
    {"0" N, "Camel", ZKR__IGNORES, true, true},
    {"le_" N, "go-leaderelection", ZKR__BREAKS, true, true},
    {"LOCK-SHARED-" N, "Hive", ZKR__IGNORES, false, false},
    {"LOCK-EXCLUSIVE-" N, "Hive", ZKR__IGNORES, false, false},
    {"R_" N, "Solr", ZKR__BREAKS, false, true},
    {"W_" N, "Solr", ZKR__BREAKS, false, true},
    {"72057611217797120-host:8983_solr-n_" N, "Solr", ZKR__BREAKS, true, true},
    {"V_" N, "BookKeeper", ZKR__BREAKS, true, true},
    {"urL" N, "BookKeeper", ZKR__IGNORES, false, true},
    {"member_host-1_s123_" N, "DistributedLog", ZKR__IGNORES, true, true},
    {"zlock#" UUID "#" N, "Accumulo", ZKR__IGNORES, true, false},
    {UUID ":host:47500|" N, "Ignite", ZKR__IGNORES, false, true},
    /* Names that only look similar. */
    {"lock-7f-" N, NULL, 0, false, false},
    {"lock-" HEX "g-" N, NULL, 0, false, false},
    {"zlock#7#" N, NULL, 0, false, false},
    {"xle_" N, NULL, 0, false, false},
    {UUID "-n_" N, NULL, 0, false,
     false}, /* of the election recipe of ZooKeeper itself */
    {"12345678-n_" N, NULL, 0, false, false},
    {"R_x" N, NULL, 0, false, false},
    {"1" N, NULL, 0, false, false},
    {"entry-100-" N, NULL, 0, false, false},
    {"job" N, NULL, 0, false, false},
    {"latch-" N, NULL, 0, false, false},
    {"-n", NULL, 0, false, false},
    {"", NULL, 0, false, false},
};

ZKT_UNIT_CASE(a_maker_is_known_by_its_names)
{
    for (size_t i = 0; i < ZKT_COUNT(names); i++) {
        const struct zkr__maker *maker = zkr__maker_of(names[i].name);
        print_message("%s\n", names[i].name);
        assert_true((maker != NULL) == (names[i].maker != NULL));
        assert_true(zkr__maker_is_certain(names[i].name) == (maker && !names[i].vague));
        if (maker) {
            assert_string_equal(maker->name, names[i].maker);
            assert_int_equal(maker->regard, names[i].regard);
            assert_true(maker->ordered == names[i].ordered);
            assert_true(maker->vague == names[i].vague);
        }
    }
}

/* Nodes of Curator's recipes and of ours have no maker, whichever program creates them: go-zookeeper writes other ids,
   and curator-go none. */
ZKT_UNIT_CASE(nodes_of_our_own_recipes_have_no_maker)
{
    static const char *const ours[] = {
        "_c_" UUID "-lock-" N,  "_c_" HEX "-lock-" N,     "lock-" N,
        "_c_" UUID "-latch-" N, "_c_" UUID "-__READ__" N, "__WRIT__" N,
        "_c_" UUID "-lease-" N};
    for (size_t i = 0; i < ZKT_COUNT(ours); i++) {
        enum zkr__name_kind kind;
        int64_t number;
        assert_true(zkr__name_parse(ours[i], &kind, &number));
        assert_true(kind != ZKR__NAME_OTHER);
        assert_null(zkr__maker_of(ours[i]));
    }
}
