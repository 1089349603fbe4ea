/* SPDX-License-Identifier: MIT */
/*
 * Giving loaded classes their bytes anew by as few requests as there can be: each stops the JVM.
 */
#ifndef JIS_AGENT_RETRANSFORM_H
#define JIS_AGENT_RETRANSFORM_H

#include "agent.h"

/*
 * Called after each request for @classes: @error 0: it is done. Else none of them has other bytes
 * than before; with @n 1 that one cannot be rewritten, else they are asked for again in parts.
 */
typedef void (*retransform_told)(JNIEnv *env, jclass *classes, jint n, jvmtiError error);

/**
 * retransform - has the JVM load the bytes of @n classes anew, by one request; where the JVM
 * refuses it, by halves, so that a class that cannot be rewritten costs but a few requests more.
 * @classes: local references, which are others while it lasts; none is to be used afterwards.
 * @told: may be NULL. @error: gets the last error, 0 where there was none; may be NULL.
 * The JVM may wait for other threads meanwhile: no lock may be held. Returns how many were done.
 */
jint retransform(JNIEnv *env, jclass *classes, jint n, retransform_told told, jvmtiError *error);

#endif /* JIS_AGENT_RETRANSFORM_H */
