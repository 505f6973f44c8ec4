/* SPDX-License-Identifier: Apache-2.0 */
#include "session/credible.h"

#include "base/path.h"

static bool are_children(const struct zkr__answer *answer)
{
    for (size_t i = 0; i < answer->name_count; i++) {
        if (!zkr__path_is_name(answer->names[i])) {
            return false;
        }
    }
    return true;
}

bool zkr__credible(enum zkr__op_kind kind,
                   const struct zkr__answer *answer,
                   int64_t session_id)
{
    if (answer->code != ZKR_OK) {
        return true;
    }
    switch (kind) {
    case ZKR__OP_CREATE:
        return answer->czxid > 0 && answer->owner == session_id;
    case ZKR__OP_CREATES:
        return answer->czxid > 0;
    case ZKR__OP_CHILDREN:
        return are_children(answer);
    case ZKR__OP_PARENT:
    case ZKR__OP_DELETE:
    case ZKR__OP_SET:
    case ZKR__OP_GET: /* the root has czxid 0 */
    case ZKR__OP_SYNC:
    case ZKR__OP_CHECK:
    case ZKR__OP_EXISTS:
    case ZKR__OP_MULTI:
        break;
    }
    return true;
}
