/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/place_meter.h"

#include "engine/loss.h"

/* A step, for each meter. */
struct step {
    void (*run)(struct zkr__meter *m, const struct step *step);
    int64_t took;
    bool contended;
    int code;
    enum zkr__metered_loss loss;
};

/* Queues of one path, as those of a semaphore, stand together and count once. */
static void run_at_each(const struct zkr__place *place,
                        const struct step *step) ZKR__LOCKED
{
    const struct zkr__place_queues *queues = place->queues;
    const struct zkr__meter *last = NULL;
    for (uint32_t i = 0; queues && i < queues->count; i++) {
        struct zkr__meter *m = zkr__queue_meter(queues->list[i]);
        if (m != last) {
            step->run(m, step);
        }
        last = m;
    }
    if (!queues) {
        step->run(zkr__queue_meter(place->queue), step);
    }
}

static int64_t took(const struct zkr__place *place) ZKR__LOCKED
{
    return zkr__now(place->queue->c) - place->since;
}

static void wait(struct zkr__meter *m, const struct step *step)
{
    (void)step;
    zkr__meter_wait(m);
}

void zkr__place_meter_wait(struct zkr__place *place)
{
    place->since = zkr__now(place->queue->c);
    run_at_each(place, &(struct step){.run = wait});
}

static bool contended(const struct zkr__place *place) ZKR__LOCKED
{
    const struct zkr__group *group = place->group;
    bool waited = group ? group->waited : place->claim->k.waited;
    for (uint32_t i = 0; group && i < group->spec.count; i++) {
        waited = waited || (group->members[i] && group->members[i]->k.waited);
    }
    return waited;
}

static void grant(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_grant(m, step->took, step->contended);
}

void zkr__place_meter_grant(struct zkr__place *place)
{
    const struct step step = {
        .run = grant, .took = took(place), .contended = contended(place)};
    run_at_each(place, &step);
    place->since += step.took;
}

static void fail(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_fail(m, step->code);
}

void zkr__place_meter_fail(const struct zkr__place *place, int code)
{
    run_at_each(place, &(struct step){.run = fail, .code = code});
}

static void release(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_release(m, step->took);
}

void zkr__place_meter_release(const struct zkr__place *place)
{
    run_at_each(place, &(struct step){.run = release, .took = took(place)});
}

static void lose(struct zkr__meter *m, const struct step *step)
{
    zkr__meter_lose(m, step->took, step->loss);
}

void zkr__place_meter_lose(const struct zkr__place *place)
{
    const struct step step = {
        .run = lose, .took = took(place), .loss = zkr__loss_metered(place->claim)};
    run_at_each(place, &step);
}
