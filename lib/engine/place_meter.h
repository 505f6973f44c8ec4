/* SPDX-License-Identifier: Apache-2.0 */
/* A place measures itself, at each of the paths it is about. All functions need the client's lock. */
#ifndef ZKR_ENGINE_PLACE_METER_H
#define ZKR_ENGINE_PLACE_METER_H

#include "engine/place_state.h"

/* It has entered. */
void zkr__place_meter_wait(struct zkr__place *place) ZKR__LOCKED;
/* It waited, and holds now; or waits no more, because of @code. */
void zkr__place_meter_grant(struct zkr__place *place) ZKR__LOCKED;
void zkr__place_meter_fail(const struct zkr__place *place, int code) ZKR__LOCKED;
/* It held, and was let go; or was lost, as its claim says. */
void zkr__place_meter_release(const struct zkr__place *place) ZKR__LOCKED;
void zkr__place_meter_lose(const struct zkr__place *place) ZKR__LOCKED;

#endif
