/* SPDX-License-Identifier: Apache-2.0 */
#include "session/zk_value.h"

#include <string.h>
#include <zookeeper/zookeeper.h>

#include <zkr/error.h>
#include <zkr/guard.h>

#include "base/mem.h"

/*
 * A standalone server's code for a session that the server has just removed (SessionTrackerImpl.checkSession(),
 * ZooKeeper 3.5 and later). ZooKeeper's C headers have no name for it.
 */
enum { UNKNOWN_SESSION = -12 };

static const struct {
    int rc, code;
} codes[] = {
    {ZOK, ZKR_OK},
    {ZBADARGUMENTS, ZKR_EINVAL},
    {ZINVALIDACL, ZKR_EINVAL},
    {ZCONNECTIONLOSS, ZKR_ECONNLOSS},
    {ZOPERATIONTIMEOUT, ZKR_ECONNLOSS},
    {ZSESSIONMOVED, ZKR_ECONNLOSS},
    {ZRUNTIMEINCONSISTENCY, ZKR_ECONNLOSS},
    {ZCLOSING, ZKR_ECONNLOSS},
    {ZSESSIONCLOSEDREQUIRESASLAUTH, ZKR_ECONNLOSS}, /* the session stays alive */
    {ZMARSHALLINGERROR, ZKR_ECONNLOSS},
    {ZINVALIDSTATE, ZKR_ECONNLOSS},
    {ZSESSIONEXPIRED, ZKR_ESESSION},
    {UNKNOWN_SESSION, ZKR_ESESSION},
    {ZNOAUTH, ZKR_EAUTH},
    {ZAUTHFAILED, ZKR_EAUTH},
    {ZSYSTEMERROR, ZKR_ESYS},
    {ZNONODE, ZKR_ENONODE},
    {ZNODEEXISTS, ZKR_EEXIST},
};

int zkr__zk_code(int rc)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].rc == rc) {
            return codes[i].code;
        }
    }
    /* A code that ZooKeeper cannot return proves nothing, and must not be mistaken for a code of this library. */
    enum { LEAST = -1000 };
    return rc < ZOK && rc > LEAST ? ZKR_EZK(rc) : ZKR_ECONNLOSS;
}

bool zkr__zk_demands_credentials(int rc)
{
    return rc == ZSESSIONCLOSEDREQUIRESASLAUTH;
}

void zkr__zk_guard(struct zoo_op *op, const char *path)
{
    zoo_check_op_init(op, path, -1);
}

struct ACL_vector *zkr__zk_acl_copy(const struct ACL_vector *acl)
{
    acl = acl ? acl : &ZOO_OPEN_ACL_UNSAFE;
    struct ACL_vector *copy = zkr__mem_alloc(sizeof(*copy));
    size_t n = (size_t)acl->count;
    struct ACL *rows = zkr__mem_alloc((n + 1) * sizeof(*rows));
    if (!copy || !rows) {
        zkr__mem_free(copy);
        zkr__mem_free(rows);
        return NULL;
    }
    copy->data = rows;
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        const struct ACL *from = &acl->data[i];
        rows[i].perms = from->perms;
        rows[i].id.scheme = zkr__mem_string(from->id.scheme);
        rows[i].id.id = zkr__mem_string(from->id.id);
        copy->count++;
        whole = whole && rows[i].id.scheme && rows[i].id.id;
    }
    if (!whole) {
        zkr__zk_acl_free(copy);
        return NULL;
    }
    return copy;
}

void zkr__zk_acl_free(struct ACL_vector *acl)
{
    for (int i = 0; acl && i < acl->count; i++) {
        zkr__mem_free(acl->data[i].id.scheme);
        zkr__mem_free(acl->data[i].id.id);
    }
    zkr__mem_free(acl ? acl->data : NULL);
    zkr__mem_free(acl);
}

/* For a client without the permission ADMIN, a server replaces the hash of a password with "x". */
static bool is_readable(const struct Id *id)
{
    const char *hash = id->id ? strchr(id->id, ':') : NULL;
    return id->scheme && id->id &&
           !(hash && strcmp(id->scheme, "digest") == 0 && strcmp(hash, ":x") == 0);
}

bool zkr__zk_acl_readable(const struct ACL_vector *acl)
{
    bool readable = acl && acl->count > 0;
    for (int i = 0; readable && i < acl->count; i++) {
        readable = is_readable(&acl->data[i].id);
    }
    return readable;
}

bool zkr__zk_acl_same(const struct ACL_vector *a, const struct ACL_vector *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++) {
        const struct ACL *x = &a->data[i], *y = &b->data[i];
        same = x->perms == y->perms && strcmp(x->id.scheme, y->id.scheme) == 0 &&
               strcmp(x->id.id, y->id.id) == 0;
    }
    return same;
}
