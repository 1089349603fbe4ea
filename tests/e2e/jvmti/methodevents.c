/* SPDX-License-Identifier: MIT */
/*
 * For the bench of traced calls: JVMTI's own events of methods' entries and exits, in the main
 * thread, each written down as a clock and the method.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jvmti.h>
#pragma GCC diagnostic pop
#include <stdint.h>
#include <string.h>
#include <time.h>

#define RING 4096u

static struct {
	uint64_t time, method;
} ring[RING];
static uint32_t position; /* of the main thread, which alone has events */

static inline uint64_t clock_read(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static void put(jmethodID method, unsigned int exit)
{
	__atomic_store_n(&ring[position % RING].time, clock_read(), __ATOMIC_RELAXED);
	__atomic_store_n(&ring[position++ % RING].method, (uint64_t)(uintptr_t)method | exit,
			 __ATOMIC_RELAXED);
}

static void JNICALL on_entry(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method)
{
	put(method, 0);
}

static void JNICALL on_exit_of(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
			       jboolean by_exception, jvalue result)
{
	put(method, 1);
}

static void JNICALL on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_ENTRY, thread);
	(*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_METHOD_EXIT, thread);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks;
	jvmtiCapabilities wanted;
	jvmtiEnv *jvmti;

	memset(&callbacks, 0, sizeof(callbacks));
	memset(&wanted, 0, sizeof(wanted));
	callbacks.MethodEntry = on_entry;
	callbacks.MethodExit = on_exit_of;
	callbacks.VMInit = on_init;
	wanted.can_generate_method_entry_events = 1;
	wanted.can_generate_method_exit_events = 1;
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) ||
	    (*jvmti)->AddCapabilities(jvmti, &wanted) ||
	    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)) ||
	    (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, NULL))
		return JNI_ERR;
	return JNI_OK;
}
