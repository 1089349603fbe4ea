/* SPDX-License-Identifier: MIT */
/* For SpinBooks: what the kernel has in its books of the calling thread's time on a CPU. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jni.h>
#pragma GCC diagnostic pop
#include <sched.h>
#include <sys/resource.h>

JNIEXPORT jlong JNICALL Java_SpinBooks_rusage(JNIEnv *env, jclass class);

/* ns, by RUSAGE_THREAD; the books are as old as the last switch or tick: hence the yield. */
JNIEXPORT jlong JNICALL Java_SpinBooks_rusage(JNIEnv *env, jclass class)
{
	struct rusage u;

	sched_yield();
	getrusage(RUSAGE_THREAD, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000ll +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000ll;
}
