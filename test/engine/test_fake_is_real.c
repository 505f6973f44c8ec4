/* SPDX-License-Identifier: Apache-2.0 */
/* The same scripts run on the fake ZooKeeper and on a real one, through the same interface. */
#include "fake_script.h"
#include "fixture.h"

#define SCRIPT(name, ...)                                                              \
    ZKT_CASE(name)                                                                     \
    {                                                                                  \
        static const char *const script[] = {__VA_ARGS__, NULL};                       \
        fake_script_compare(script);                                                   \
    }

/* Sequence numbers count all children that were ever created below the parent. A new parent starts again. */
SCRIPT(numbers_are_given_out_alike,
       "a create /q/n-",
       "a parent /q",
       "b parent /q",
       "a create /q/n-",
       "b create /q/m-",
       "a create /q/n-",
       "a delete $1",
       "a create /q/n-",
       "a children /q",
       "b delete /q",
       "a delete $0",
       "b delete $2",
       "b delete $3",
       "b delete $3",
       "b delete /q",
       "b container /q",
       "b create /q/n-",
       "b delete $4")

/* Owners of nodes, and which nodes can have children. */
SCRIPT(nodes_have_owners_alike,
       "a parent /q",
       "a create /q/n-",
       "b get $0",
       "b get /q",
       "b get /q/none",
       "b create $0/n-",
       "b parent $0/x",
       "b exists $0",
       "b exists /q/none",
       "b children /q/none",
       "b children $0",
       "b sync /q",
       "b delete $0")

/* A check of several paths names the first missing one. */
SCRIPT(checks_refuse_alike,
       "a parent /q",
       "a create /q/n-",
       "a check $0",
       "a check $0 /q",
       "a check $0 /none",
       "a check /none $0",
       "a delete $0",
       "a check $0")

/* Data have versions, and a write may demand a version. */
SCRIPT(data_change_alike,
       "a parent /q",
       "a create /q/n-",
       "b get! $0",
       "b children! /q",
       "a set $0",
       "a set $0",
       "b get! $0",
       "b put $0",
       "b put $0 &",
       "b get $0",
       "a lose-answer put $0",
       "b get $0",
       "a put /q/none",
       "a delete $0",
       "a put $0")

/* The answer to a read of the ACL includes the other facts that show whose node it is. The node may be missing. */
SCRIPT(acls_are_read_alike,
       "a parent /q",
       "b acl /q",
       "a create /q/n-",
       "b acl $0",
       "a put $0",
       "b acl $0",
       "a acl /q/none",
       "a delete $0 &",
       "a acl $0 &",
       "a acl /q")

/* A transaction is executed completely or not at all, and the answer tells what stopped it. */
SCRIPT(transactions_are_whole_alike,
       "a parent /q",
       "a create /q/n-",
       "b get! /q",
       "b children! $0",
       "a build /q /t",
       "b get /t",
       "b children /t",
       "a build /q /t",
       "a build /none /t",
       "a finish $0 /none",
       "b get $0",
       "a finish $0 /q",
       "b get $0",
       "b get /q",
       "a finish $0 /q",
       "b get /q",
       "b delete /t/n-0000000000",
       "b delete /t")

/*
 * Nodes that are created together have one czxid. All of them are created, or none. The node that shows the czxid is
 * seen by nobody.
 */
SCRIPT(nodes_are_made_together_alike,
       "a parent /q",
       "a parent /r",
       "b children! /q",
       "b children! /r",
       "b exists! /q/n-",
       "a creates /q/n- /r/n- &",
       "a children /q &",
       "a children /r",
       "b get $0",
       "b get $1",
       "b children /q",
       "a create /q/n-",
       "a creates /q/n- /q/n-",
       "a creates /q/n- /none/n-",
       "a creates /none/n- /q/n-",
       "b children /q",
       "a creates /r/n-",
       "a get $5",
       "a delete $1",
       "a delete $5",
       "a delete /r")

/* Each request sees the effects of the requests before it, even if they are sent back to back. */
SCRIPT(pipelines_run_in_order_alike,
       "a parent /q &",
       "a create /q/n- &",
       "a children /q",
       "a delete $0 &",
       "a create /q/n- &",
       "a children /q &",
       "a get $0",
       "a create /none/n- &",
       "a children /none &",
       "a parent /none &",
       "a create /none/n-",
       "a delete $1",
       "a delete $2")

/* A watch fires once. A get or a list that fails sets none. The event comes before the answer that shows the change. */
SCRIPT(watches_fire_alike,
       "a parent /q",
       "a create /q/n-",
       "b get! $0",
       "b get! $0",
       "b get! /q/none",
       "b children! /q",
       "a create /q/n-",
       "a create /q/n-",
       "a delete $0",
       "b children! /q",
       "b get! $1",
       "b children! $1",
       "a delete $1",
       "a get! $2 &",
       "a delete $2 &",
       "a get $2",
       "b children! /q",
       "b delete /q",
       "b exists! /q",
       "a exists! /q",
       "a parent /q",
       "a delete /q")

/*
 * A data watch on a directory reports the directory's deletion and new data, before anything that is created in the
 * next directory. It does not report children.
 */
SCRIPT(the_end_of_a_directory_is_told_alike,
       "a parent /q",
       "a get! /q &",
       "a create /q/n-",
       "b create /q/n-",
       "b delete $1",
       "a delete $0 &",
       "a create /q/n-",
       "a delete $2",
       "b put /q",
       "a get! /q",
       "b delete /q",
       "b parent /q",
       "b create /q/n-",
       "a create /q/n- &",
       "a children /q",
       "a get! /q",
       "a delete $4",
       "b parent /q/n",
       "a create /q/n-",
       "b delete /q/n",
       "b delete $3",
       "a delete $5 &",
       "a delete /q &",
       "a parent /q &",
       "a create /q/n-")

/* A lost request was not executed, and a request whose answer was lost was executed. */
SCRIPT(losses_leave_alike,
       "a parent /q",
       "a create /q/n-",
       "a lose-request create /q/n-",
       "b children /q",
       "a lose-answer create /q/n-",
       "b children /q",
       "a create /q/n-",
       "a lose-answer delete $1",
       "b children /q",
       "a lose-request delete $1",
       "a get $1")

/* After a disconnect, changes of watched nodes are reported, and the other watches remain. */
SCRIPT(watches_survive_a_cut_alike,
       "a parent /q",
       "a create /q/n-",
       "a create /q/n-",
       "b get! $0",
       "b get! $1",
       "b away",
       "a delete $0",
       "b back",
       "a delete $1",
       "b children! /q",
       "b exists! /q/none",
       "b away",
       "a create /q/n-",
       "b back",
       "b away",
       "a parent /q/none",
       "b back",
       "b children! /q/none",
       "b get! $2",
       "b away",
       "b back",
       "a delete $2",
       "a delete /q/none",
       "a get! /q")

/* The end of a session deletes its nodes. The owner learns of the end when it reconnects. */
SCRIPT(sessions_end_alike,
       "a parent /q",
       "a create /q/n-",
       "b create /q/n-",
       "b get! $0",
       "b children! /q",
       "a get! $0",
       "a expire",
       "b children /q",
       "a create /q/n-",
       "b get! $2",
       "a close",
       "b children /q")

/*
 * A request fails with the first of these that applies: the node is missing, the permission is missing, other
 * conditions.
 */
SCRIPT(permissions_are_asked_alike,
       "a parent /q",
       "- forbid /q/c c",
       "- forbid /q/d d",
       "- forbid /q/r r",
       "- forbid /q/w w",
       "a create /q/c/n-",
       "a creates /q/n- /q/c/n-",
       "a parent /q/c/x",
       "a create /q/d/n-",
       "a delete $0",
       "a delete /q/d/none",
       "a children /q/r",
       "a children! /q/r",
       "a get! /q/r",
       "a exists /q/r",
       "a check /q/r",
       "a create /q/r/n-",
       "a delete $1",
       "a put /q/w",
       "a put /q/w/none",
       "b children! /q/w",
       "a create /q/w/n-",
       "a delete $2",
       "a delete /q/c",
       "a delete /q/r",
       "a delete /q/w")
