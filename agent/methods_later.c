/* SPDX-License-Identifier: MIT */
/*
 * Classes whose probes are to be put in soon. Who prepares a class holds its lock in the JVM, and a
 * rewriting under way may be waiting for that lock, so it only leaves the class here; the control
 * thread rewrites all that has come together by one request. Who has left it waits for that a
 * while, so that no call is missed, and never for good: then the class goes on without probes.
 */
#include "compat.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "methods.h"
#include "waits.h"

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static jweak *later; /* all under the lock */
static unsigned int nr_later, room;
static int event = -1;			  /* readable: there are some */
static __u64 nr_added, nr_taken, nr_done; /* of all */
static pthread_cond_t later_changed = PTHREAD_COND_INITIALIZER;

int methods_later_fd(void)
{
	int fd;

	pthread_mutex_lock(&later_lock);
	if (event < 0)
		event = eventfd(nr_later, EFD_CLOEXEC | EFD_NONBLOCK);
	fd = event;
	pthread_mutex_unlock(&later_lock);
	return fd;
}

void methods_later_close(void)
{
	pthread_mutex_lock(&later_lock);
	if (event >= 0)
		close(event);
	event = -1;
	pthread_mutex_unlock(&later_lock);
}

/* The lock is held. */
static int later_room(void)
{
	unsigned int more = room ? 2 * room : 64;
	jweak *longer;

	if (nr_later < room)
		return 0;
	longer = realloc(later, more * sizeof(*later));
	if (!longer)
		return -ENOMEM;
	later = longer;
	room = more;
	return 0;
}

int methods_later_add(JNIEnv *env, jclass class)
{
	jweak weak = (*env)->NewWeakGlobalRef(env, class);
	const uint64_t one = 1;
	int error;

	exception_clear(env);
	if (!weak)
		return -ENOMEM;
	pthread_mutex_lock(&later_lock);
	error = later_room();
	if (!error)
		later[nr_later++] = weak;
	nr_added += !error;
	if (event >= 0)
		(void)!write(event, &one, sizeof(one));
	pthread_mutex_unlock(&later_lock);
	if (error)
		(*env)->DeleteWeakGlobalRef(env, weak);
	return error;
}

void methods_later_wait(unsigned int ms)
{
	struct timespec limit;
	int error = 0;
	__u64 mine;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ms / 1000;
	limit.tv_nsec += ms % 1000 * 1000000;
	limit.tv_sec += limit.tv_nsec / 1000000000;
	limit.tv_nsec %= 1000000000;
	pthread_mutex_lock(&later_lock);
	mine = nr_added; /* ours is among those, and maybe others' */
	while (nr_done < mine && !error)
		error = pthread_cond_timedwait(&later_changed, &later_lock, &limit);
	pthread_mutex_unlock(&later_lock);
}

void methods_later_done(void)
{
	pthread_mutex_lock(&later_lock);
	nr_done = nr_taken;
	pthread_cond_broadcast(&later_changed);
	pthread_mutex_unlock(&later_lock);
}

jclass *methods_later_take(JNIEnv *env, jint *n)
{
	jweak *taken;
	uint64_t count;
	jint i, all;

	pthread_mutex_lock(&later_lock);
	taken = later;
	all = (jint)nr_later;
	later = NULL;
	nr_later = room = 0;
	nr_taken = nr_added;
	if (event >= 0)
		(void)!read(event, &count, sizeof(count));
	pthread_mutex_unlock(&later_lock);
	*n = 0;
	for (i = 0; i < all; i++) {
		jclass class = NULL;

		if ((*env)->EnsureLocalCapacity(env, 16) == 0)
			class = (*env)->NewLocalRef(env, taken[i]);
		exception_clear(env);
		(*env)->DeleteWeakGlobalRef(env, taken[i]);
		if (class)
			taken[(*n)++] = class;
	}
	return taken;
}
