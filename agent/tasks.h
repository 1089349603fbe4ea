/* SPDX-License-Identifier: MIT */
/*
 * Tasks of executors: what tasks.c and pools.c share.
 */
#ifndef JIS_AGENT_TASKS_H
#define JIS_AGENT_TASKS_H

#include "waits.h"

#define CONCURRENT "java/util/concurrent/"

/* What is told of an executor. */
struct pool_told {
	__u32 class_name, hash;
	__s32 queued; /* tasks that wait in its queue at this moment, -1 not known */
};

void pools_enable(JNIEnv *env);
/* @hint: where the thread found its pool last. For natives that Java calls, whose local references
 * go with them. */
void pool_get(JNIEnv *env, jobject pool, __u32 *hint, struct pool_told *out);
/* The same with the hashes of pool and queue; @queue is NULL, and its hash 0, where it is not
 * known. */
void pool_get_hashed(JNIEnv *env, jobject pool, jint hash, jobject queue, jint queue_hash,
		     __u32 *hint, struct pool_told *out);
/* Names are of one recording. Nobody may be inside. */
void pools_forget(JNIEnv *env);

/* A class of the JDK: a global reference, NULL where there is none; one of its fields. */
jclass class_find(JNIEnv *env, const char *name);
jfieldID field_find(JNIEnv *env, jclass class, const char *name, const char *type);
/* A local reference; NULL also where there is no object, or no field. */
jobject object_of(JNIEnv *env, jobject object, jfieldID field);
/* NULL: there is no such class. */
int is(JNIEnv *env, jobject object, jclass class);

/* A field of a class of the program, which may be there several times. */
struct foreign_field {
	jweak class;
	jfieldID field;
};

#define FOREIGN_MAX 16u

struct foreign {
	struct foreign_field fields[FOREIGN_MAX];
	unsigned int nr;
	pthread_mutex_t lock; /* writers' */
};

/* The field of @object, NULL: it has none. Those that were first are found fast. */
jfieldID foreign_field(JNIEnv *env, struct foreign *f, jobject object, const char *name,
		       const char *type);

#endif /* JIS_AGENT_TASKS_H */
