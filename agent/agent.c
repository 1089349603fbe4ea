/* SPDX-License-Identifier: MIT */
/*
 * Entry points of the agent and the phases of the JVM's life: which events and capabilities are
 * asked for, and when. Whatever goes wrong, the JVM starts and runs as without us.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent.h"

#define VM_VERSION_MIN 17u

struct agent agent = {.writer = JIS_WRITER_INITIALIZER(agent.writer), .socket = -1};

static int dormant;

/* Messages ----------------------------------------------------------------------------------- */

/* One write(2) a line, so that lines of several threads do not mix. */
static __attribute__((format(printf, 1, 0))) void message(const char *format, va_list args)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "jis: ");

	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	n = (int)strlen(line);
	line[n++] = '\n';
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

void agent_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
}

void agent_debug(const char *format, ...)
{
	va_list args;

	if (!agent.debug)
		return;
	va_start(args, format);
	message(format, args);
	va_end(args);
}

void agent_dormant(const char *why)
{
	jis_writer_off(&agent.writer);
	__atomic_store_n(&jis_agent_at_work, 0, __ATOMIC_RELEASE);
	if (!__atomic_exchange_n(&dormant, 1, __ATOMIC_ACQ_REL) && why)
		agent_warn("%s", why);
}

int agent_is_dormant(void)
{
	return __atomic_load_n(&dormant, __ATOMIC_ACQUIRE);
}

/* The JVM's phases --------------------------------------------------------------------------- */

static void event_enable(jvmtiEvent event)
{
	jvmtiError error =
		(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, event, NULL);

	if (error)
		recorder_note("JVMTI event %d cannot be had: error %d", event, error);
}

static void phase_write(__u32 phase)
{
	struct jis_ev_vm_phase record = {phase};

	agent_write(JIS_EV_vm_phase, &record, sizeof(record));
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *env)
{
	if (agent_is_dormant())
		return;
	phase_write(JIS_VM_START);
	if ((agent.features & JIS_FEATURE_THREAD_NAMES) && hooks_define(env) < 0)
		agent.features &= ~JIS_FEATURE_THREAD_NAMES;
}

/* All that needs a live JVM; also on attach. @hooks: natives can be found by name. */
static void agent_live(JNIEnv *env, int hooks)
{
	if (threads_init(env) < 0) {
		recorder_note("java.lang.Thread has no field tid: threads are not recorded");
		agent.features &= ~(JIS_FEATURE_THREADS | JIS_FEATURE_THREAD_NAMES);
	}
	if (agent.features & JIS_FEATURE_THREADS) {
		event_enable(JVMTI_EVENT_THREAD_START);
		event_enable(JVMTI_EVENT_THREAD_END);
		threads_running(env);
	}
	if (agent.features & JIS_FEATURE_THREAD_NAMES) {
		if (hooks)
			hooks_install(env);
		else
			recorder_note("attached to a running JVM: later names of threads "
				      "(Thread.setName) are not recorded");
	}
	if (agent.features & JIS_FEATURE_MARKERS) {
		event_enable(JVMTI_EVENT_CLASS_PREPARE);
		markers_scan(env);
	}
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	if (agent_is_dormant())
		return;
	phase_write(JIS_VM_INIT);
	agent_live(env, 1);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	phase_write(JIS_VM_DEATH);
}

/* Starting up -------------------------------------------------------------------------------- */

/* Copies the value of KEY= in a comma-separated option string; 0 when it is not there. */
static int option_value(const char *options, const char *key, char *out, size_t size)
{
	size_t length = strlen(key), n;

	while (options && *options) {
		n = strcspn(options, ",");
		if (n >= length && !strncmp(options, key, length) && n - length < size) {
			memcpy(out, options + length, n - length);
			out[n - length] = 0;
			return 1;
		}
		options += n + (options[n] == ',');
	}
	return 0;
}

static void property(const char *name, char *out, size_t size)
{
	char *value = NULL;

	out[0] = 0;
	if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, name, &value) || !value)
		return;
	snprintf(out, size, "%s", value);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)value);
}

/* Which JVM this is: "1.8" is 8, "17" and "21" are themselves. */
static void vm_identify(void)
{
	char text[JIS_AGENT_TEXT_MAX / 2 - 1], name[JIS_AGENT_TEXT_MAX / 2];
	const char *p = text;

	property("java.vm.specification.version", text, sizeof(text));
	if (!strncmp(p, "1.", 2))
		p += 2;
	for (agent.vm_version = 0; *p >= '0' && *p <= '9' && agent.vm_version < 1000; p++)
		agent.vm_version = agent.vm_version * 10 + (unsigned int)(*p - '0');
	property("java.vm.name", name, sizeof(name));
	property("java.vm.version", text, sizeof(text));
	snprintf(agent.vm_name, sizeof(agent.vm_name), "%s %s", name, text);
	agent.hotspot = !strstr(name, "OpenJ9") && vmstructs_present();
}

/* Asks for the capabilities of the wanted families, and drops those this JVM cannot give. */
static void capabilities_add(void)
{
	jvmtiCapabilities potential, wanted;

	memset(&potential, 0, sizeof(potential));
	memset(&wanted, 0, sizeof(wanted));
	(*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &potential);
	if (!potential.can_generate_garbage_collection_events)
		agent.features &= ~JIS_FEATURE_GC;
	if (!agent.hotspot || !potential.can_retransform_classes)
		agent.features &= ~JIS_FEATURE_THREAD_NAMES;
	if (!agent.hotspot)
		recorder_note("%s is not HotSpot: only standard JVMTI events are recorded",
			      agent.vm_name);
	wanted.can_generate_garbage_collection_events = !!(agent.features & JIS_FEATURE_GC);
	wanted.can_retransform_classes = !!(agent.features & JIS_FEATURE_THREAD_NAMES);
	if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted)) {
		recorder_note("the JVM refuses capabilities: collections and later thread names "
			      "are not recorded");
		agent.features &= ~(JIS_FEATURE_GC | JIS_FEATURE_THREAD_NAMES);
	}
}

static void callbacks_set(void)
{
	jvmtiEventCallbacks callbacks;

	memset(&callbacks, 0, sizeof(callbacks));
	callbacks.VMStart = on_vm_start;
	callbacks.VMInit = on_vm_init;
	callbacks.VMDeath = on_vm_death;
	callbacks.ThreadStart = on_thread_start;
	callbacks.ThreadEnd = on_thread_end;
	callbacks.GarbageCollectionStart = on_gc_start;
	callbacks.GarbageCollectionFinish = on_gc_finish;
	callbacks.ClassPrepare = on_class_prepare;
	callbacks.ClassFileLoadHook = on_class_file_load;
	(*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof(callbacks));
	event_enable(JVMTI_EVENT_VM_DEATH);
	if (agent.features & JIS_FEATURE_GC) {
		event_enable(JVMTI_EVENT_GARBAGE_COLLECTION_START);
		event_enable(JVMTI_EVENT_GARBAGE_COLLECTION_FINISH);
	}
}

static void vm_info_write(void)
{
	struct jis_ev_vm_info fixed = {.pid = (__u32)getpid(), .version = agent.vm_version};

	dict_write(JIS_EV_vm_info, &fixed, offsetof(struct jis_ev_vm_info, text_length),
		   agent.vm_name, strlen(agent.vm_name));
}

static int jvmti_get(JavaVM *vm)
{
	static const jint versions[] = {JVMTI_VERSION_11, JVMTI_VERSION_1_2, JVMTI_VERSION_1_0};
	unsigned int i;

	agent.vm = vm;
	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, versions[i]) == JNI_OK)
			return 0;
	return -ENOTSUP;
}

static int socket_path(const char *options, char *path, size_t size)
{
	const char *env = getenv(JIS_SOCKET_ENV);

	if (option_value(options, "socket=", path, size))
		return 0;
	if (!env || !*env || strlen(env) >= size)
		return -ENOENT;
	memcpy(path, env, strlen(env) + 1);
	return 0;
}

/* Connects and asks the JVM for what the recorder wants; 0, or dormant. */
static int agent_start(JavaVM *vm, const char *options)
{
	const char *disable = getenv(JIS_DISABLE_ENV);
	char path[512], flag[2];

	if (disable && !strcmp(disable, "1")) {
		agent_dormant(NULL);
		return -ECANCELED;
	}
	agent.debug = option_value(options, "debug", flag, sizeof(flag));
	if (jvmti_get(vm) < 0) {
		agent_dormant("no recording: this JVM has no JVMTI");
		return -ENOTSUP;
	}
	vm_identify();
	if (socket_path(options, path, sizeof(path)) < 0) {
		agent_dormant("no recording: no recorder (neither " JIS_SOCKET_ENV
			      " nor the option socket= is set)");
		return -ENOENT;
	}
	if (slots_init() < 0 || recorder_connect(path) < 0) {
		agent_dormant("no recording: no thread-specific key left");
		return -ENOENT;
	}
	if (agent.vm_version < VM_VERSION_MIN) {
		recorder_note("%s is too old: the agent needs Java 17 or later", agent.vm_name);
		agent_dormant("no recording: this JVM is older than Java 17");
		return -ENOTSUP;
	}
	agent_debug("connected to %s, features %#x, %s", path, agent.features, agent.vm_name);
	if (recorder_watch() < 0) {
		agent_dormant("no recording: cannot start a thread");
		return -EAGAIN;
	}
	__atomic_store_n(&jis_agent_at_work, 1, __ATOMIC_RELEASE);
	capabilities_add();
	vm_info_write();
	callbacks_set();
	return 0;
}

/* Is this not the first load into this JVM? One is enough, and says so once. */
static int loaded_before(void)
{
	if (!jis_agent_at_work && !agent_elsewhere())
		return agent.vm != NULL; /* a former load failed, and has said why */
	agent_warn("loaded twice into this JVM: the second one stays out");
	return 1;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	if (loaded_before())
		return JNI_OK;
	if (agent_start(vm, options) == 0) {
		event_enable(JVMTI_EVENT_VM_START);
		event_enable(JVMTI_EVENT_VM_INIT);
	}
	return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	JNIEnv *env;

	/* To be attached again is no mistake, and all is running. */
	if (agent.vm || loaded_before() || agent_start(vm, options) < 0)
		return JNI_OK;
	if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) == JNI_OK)
		agent_live(env, 0);
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	/* Daemon threads still run: nothing is taken down (see -z nodelete). */
}
