/* SPDX-License-Identifier: MIT */
/*
 * Virtual threads (JDK 21 and later): their start and end, and which carrier they are on, by
 * extension events of HotSpot that are found by name. The callbacks run on the carrier; records are
 * written in its slot.
 */
#include <stdarg.h>

#include "methods.h"
#include "waits.h"

#define MOUNT "com.sun.hotspot.events.VirtualThreadMount"
#define UNMOUNT "com.sun.hotspot.events.VirtualThreadUnmount"
#define CARRIED "com.sun.hotspot.functions.GetVirtualThread"

typedef jvmtiError(JNICALL *carried_function)(jvmtiEnv *jvmti, ...);

static jint mount_event, unmount_event; /* 0: none */
static jfieldID thread_name;
static jclass virtual_class; /* global reference, for good */

/* The bit behind can_generate_sampled_object_alloc_events. */
static int capability_bit(size_t *byte, unsigned char *mask)
{
	jvmtiCapabilities last;
	const unsigned char *bytes = (const unsigned char *)&last;
	size_t i;

	memset(&last, 0, sizeof(last));
	last.can_generate_sampled_object_alloc_events = 1;
	for (i = 0; i < sizeof(last); i++) {
		if (!bytes[i])
			continue;
		*byte = bytes[i] == 0x80 ? i + 1 : i;
		*mask = (unsigned char)(bytes[i] == 0x80 ? 1 : bytes[i] << 1);
		return *byte < sizeof(last);
	}
	return 0;
}

int vthreads_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	unsigned char mask;
	size_t byte;

	/* Nothing is missing where there are none. */
	if (agent.vm_version < 21) {
		agent.features &= ~JIS_FEATURE_VTHREADS;
		return 0;
	}
	if (!capability_bit(&byte, &mask) || !(((const unsigned char *)potential)[byte] & mask))
		return -ENOTSUP;
	((unsigned char *)wanted)[byte] |= mask;
	return 0;
}

/* Start and end ------------------------------------------------------------------------------ */

static void vthread_announce(JNIEnv *env, jthread thread, __u64 java_tid, __u32 tid, __u32 flags)
{
	struct jis_ev_java_thread_start fixed = {.java_tid = java_tid, .tid = tid};
	char name[NAME_UTF8_MAX];
	jstring string = thread_name ? (*env)->GetObjectField(env, thread, thread_name) : NULL;
	int length = string ? name_of_string(env, string, name) : 0;

	if (string)
		(*env)->DeleteLocalRef(env, string);
	fixed.flags = JIS_JTHREAD_VIRTUAL | JIS_JTHREAD_DAEMON | flags;
	dict_write(JIS_EV_java_thread_start, &fixed,
		   offsetof(struct jis_ev_java_thread_start, name_length), name,
		   length > 0 ? (size_t)length : 0);
}

void JNICALL on_vthread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	if (!agent_enter())
		return;
	vthread_announce(env, thread, java_tid_of(env, thread), 0, 0);
	agent_leave();
}

void JNICALL on_vthread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct jis_ev_java_thread_end record = {0};

	if (!agent_enter())
		return;
	record.java_tid = java_tid_of(env, thread);
	dict_write(JIS_EV_java_thread_end, &record, sizeof(record), NULL, 0);
	agent_leave();
}

int vthread_is(JNIEnv *env, jthread thread)
{
	return virtual_class && (*env)->IsInstanceOf(env, thread, virtual_class);
}

/* Mounts ------------------------------------------------------------------------------------- */

static void mount_note(JNIEnv *env, jthread thread, int mounted)
{
	struct jis_ev_vthread_mount record;
	struct peer *peer;

	if (!agent_enter())
		return;
	record.java_tid = java_tid_of(env, thread);
	peer = peer_self(env);
	if (peer) {
		__atomic_store_n(&peer->carries, CARRIES, __ATOMIC_RELAXED);
		__atomic_store_n(&peer->carried, mounted ? record.java_tid : 0, __ATOMIC_RELAXED);
	}
	library_switch(record.java_tid, mounted);
	agent_write(mounted ? JIS_EV_vthread_mount : JIS_EV_vthread_unmount, &record,
		    sizeof(record));
	agent_leave();
}

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
	va_list args;
	JNIEnv *env;

	va_start(args, jvmti);
	env = va_arg(args, JNIEnv *);
	mount_note(env, va_arg(args, jthread), 1);
	va_end(args);
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
	va_list args;
	JNIEnv *env;

	va_start(args, jvmti);
	env = va_arg(args, JNIEnv *);
	mount_note(env, va_arg(args, jthread), 0);
	va_end(args);
}

static void params_free(jvmtiParamInfo *params, jint n)
{
	jint i;

	for (i = 0; i < n; i++)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)params[i].name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)params);
}

jint extension_event_find(const char *id)
{
	jvmtiExtensionEventInfo *events = NULL;
	jint n = 0, i, found = 0;

	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &n, &events))
		return 0;
	for (i = 0; i < n; i++) {
		if (!strcmp(events[i].id, id))
			found = events[i].extension_event_index;
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events[i].id);
		(*agent.jvmti)
			->Deallocate(agent.jvmti, (unsigned char *)events[i].short_description);
		params_free(events[i].params, events[i].param_count);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)events);
	return found;
}

jvmtiError extension_event(jint event, jvmtiExtensionEvent callback)
{
	jvmtiError error = (*agent.jvmti)->SetExtensionEventCallback(agent.jvmti, event, callback);

	if (!error)
		error = (*agent.jvmti)
				->SetEventNotificationMode(agent.jvmti,
							   callback ? JVMTI_ENABLE : JVMTI_DISABLE,
							   (jvmtiEvent)event, NULL);
	return error;
}

/* Those that run already ---------------------------------------------------------------------- */

static carried_function carried_find(void)
{
	jvmtiExtensionFunctionInfo *functions = NULL;
	carried_function found = NULL;
	jint n = 0, i;

	if ((*agent.jvmti)->GetExtensionFunctions(agent.jvmti, &n, &functions))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!strcmp(functions[i].id, CARRIED))
			found = (carried_function)functions[i].func;
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)functions[i].id);
		(*agent.jvmti)
			->Deallocate(agent.jvmti, (unsigned char *)functions[i].short_description);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)functions[i].errors);
		params_free(functions[i].params, functions[i].param_count);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)functions);
	return found;
}

/* Tells which virtual thread is on this carrier, as one that starts on a kernel thread. */
static void carried_announce(JNIEnv *env, carried_function function, jthread carrier)
{
	struct peer *peer = peer_of_vm_thread(vm_thread_read(env, carrier));
	jthread thread = NULL;
	__u64 java_tid;

	if (!peer || function(agent.jvmti, carrier, &thread) || !thread)
		return;
	java_tid = java_tid_of(env, thread);
	__atomic_store_n(&peer->carries, CARRIES, __ATOMIC_RELAXED);
	__atomic_store_n(&peer->carried, java_tid, __ATOMIC_RELAXED);
	vthread_announce(env, thread, java_tid, peer->tid, JIS_JTHREAD_RUNNING);
}

static void carried_scan(JNIEnv *env)
{
	carried_function function = carried_find();
	jthread *threads = NULL;
	jint n = 0, i;

	if (!function || (*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		return;
	}
	if (!(*agent.jvmti)->GetAllThreads(agent.jvmti, &n, &threads) &&
	    (*env)->EnsureLocalCapacity(env, 2 * n + 16) == 0)
		for (i = 0; i < n; i++)
			carried_announce(env, function, threads[i]);
	exception_clear(env);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)threads);
	(*env)->PopLocalFrame(env, NULL);
}

void vthread_class_find(JNIEnv *env)
{
	jclass class = virtual_class ? NULL : (*env)->FindClass(env, "java/lang/BaseVirtualThread");

	if (class) {
		virtual_class = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	exception_clear(env);
}

int vthreads_enable(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/Thread");

	if (class) {
		thread_name = (*env)->GetFieldID(env, class, "name", "Ljava/lang/String;");
		(*env)->DeleteLocalRef(env, class);
	}
	exception_clear(env);
	vthread_class_find(env);
	return 0;
}

void vthreads_enabled(JNIEnv *env)
{
	mount_event = extension_event_find(MOUNT);
	unmount_event = extension_event_find(UNMOUNT);
	if (!mount_event || !unmount_event || extension_event(mount_event, on_mount) ||
	    extension_event(unmount_event, on_unmount))
		recorder_note("mounts of virtual threads are not recorded: this JVM does not tell");
	carried_scan(env);
}

void vthreads_disable(JNIEnv *env)
{
	if (mount_event)
		extension_event(mount_event, NULL);
	if (unmount_event)
		extension_event(unmount_event, NULL);
}
