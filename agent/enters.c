/* SPDX-License-Identifier: MIT */
/*
 * Every enter and exit of a monitor in the program's own classes, on request: calls behind each
 * monitorenter and before each monitorexit, in synchronized methods at entry and exits. Classes of
 * the JDK stay as they are, and so do hidden ones. A class that is loaded is rewritten on its way,
 * one that is there already is retransformed; all get their own bytes again at the end.
 */
#include "compat.h"

#include <stdlib.h>
#include <time.h>

#include "enters.h"
#include "retransform.h"

#define PROBE(name) Java_java_lang_JProbe_00024_##name
#define LOADING_WAIT_MS 200
#define LOADING_STEP_MS 20

const struct jis_native_method enter_natives[] = {
	{"monitorEnter", "(Ljava/lang/Object;)V", NULL},
	{"monitorExit", "(Ljava/lang/Object;)V", NULL},
	{0},
};

/* Hashes of names of classes that have calls; open addressing, 0: an empty place. */
static struct {
	pthread_mutex_t lock;
	__u64 *names;
	__u32 room, used;
	unsigned int refused; /* methods left as they are */
} rewritten = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int enters_on; /* classes that come by are rewritten */

/* Natives ------------------------------------------------------------------------------------ */

/* Nothing of an object but its name and hash is looked at, and no Java code runs. */
static void monitor_tell(JNIEnv *env, jobject object, unsigned int id)
{
	struct jis_ev_monitor_enter record; /* both have the same fields */
	struct current current;
	struct object what;

	if (!object || !enter_as(id, env, &current))
		return;
	object_describe(env, object, &what);
	record = (struct jis_ev_monitor_enter){current.java_tid, what.class_name, what.hash};
	agent_write(id, &record, sizeof(record));
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(monitorEnter)(JNIEnv *env, jclass class, jobject object);
JNIEXPORT void JNICALL PROBE(monitorExit)(JNIEnv *env, jclass class, jobject object);

JNIEXPORT void JNICALL PROBE(monitorEnter)(JNIEnv *env, jclass class, jobject object)
{
	monitor_tell(env, object, JIS_EV_monitor_enter);
}

JNIEXPORT void JNICALL PROBE(monitorExit)(JNIEnv *env, jclass class, jobject object)
{
	monitor_tell(env, object, JIS_EV_monitor_exit);
}

/* Which classes ------------------------------------------------------------------------------ */

/* Those of the JDK, which the platform's loader may have loaded too. */
static int is_library(const char *name)
{
	static const char *const prefixes[] = {"java/", "javax/",   "jdk/",
					       "sun/",	"com/sun/", "jis/"};
	unsigned int i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return 1;
	return 0;
}

static __u64 name_hash(const char *name, size_t n)
{
	__u64 h = 0xcbf29ce484222325ull;

	while (n--)
		h = (h ^ (unsigned char)*name++) * 0x100000001b3ull;
	return h | 1;
}

static __u64 *name_place(__u64 *names, __u32 room, __u64 hash)
{
	__u32 i = (__u32)(hash >> 32) & (room - 1);

	while (names[i] && names[i] != hash)
		i = (i + 1) & (room - 1);
	return &names[i];
}

/* Under the lock; 0, or -ENOMEM. */
static int name_add(__u64 hash)
{
	__u32 room = rewritten.room ? 2 * rewritten.room : 1024, i;
	__u64 *names, *place;

	if (2 * rewritten.used >= rewritten.room) {
		names = calloc(room, sizeof(*names));
		if (!names)
			return -ENOMEM;
		for (i = 0; i < rewritten.room; i++)
			if (rewritten.names[i])
				*name_place(names, room, rewritten.names[i]) = rewritten.names[i];
		free(rewritten.names);
		rewritten.names = names;
		rewritten.room = room;
	}
	place = name_place(rewritten.names, rewritten.room, hash);
	rewritten.used += !*place;
	*place = hash;
	return 0;
}

static int name_known(__u64 hash)
{
	int known;

	pthread_mutex_lock(&rewritten.lock);
	known = rewritten.room && *name_place(rewritten.names, rewritten.room, hash) == hash;
	pthread_mutex_unlock(&rewritten.lock);
	return known;
}

/* Is the loaded class one that has calls, or while they are put in may get some? */
static int class_concerned(JNIEnv *env, jclass class)
{
	jboolean modifiable = JNI_FALSE;
	char *signature = NULL;
	jobject loader = NULL;
	size_t n;
	int is;

	if ((*agent.jvmti)->GetClassLoader(agent.jvmti, class, &loader) || !loader)
		return 0;
	(*env)->DeleteLocalRef(env, loader);
	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) || !signature)
		return 0;
	n = strlen(signature);
	is = signature[0] == 'L' && !is_library(signature + 1) &&
	     (__atomic_load_n(&enters_on, __ATOMIC_ACQUIRE) ||
	      name_known(name_hash(signature + 1, n - 2)));
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
	return is && !(*agent.jvmti)->IsModifiableClass(agent.jvmti, class, &modifiable) &&
	       modifiable;
}

/* Returns how many could not be. */
static jint classes_retransform(JNIEnv *env)
{
	jclass *classes = NULL;
	jint n = 0, i, chosen = 0, failed;

	if ((*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		return 0;
	}
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &classes))
		n = 0;
	if ((*env)->EnsureLocalCapacity(env, n + 64) < 0) {
		exception_clear(env);
		n = 0;
	}
	for (i = 0; i < n; i++) {
		if (class_concerned(env, classes[i]))
			classes[chosen++] = classes[i];
		else
			(*env)->DeleteLocalRef(env, classes[i]);
	}
	failed = chosen - retransform(env, classes, chosen, NULL, NULL);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)classes);
	(*env)->PopLocalFrame(env, NULL);
	return failed;
}

/* Rewriting ---------------------------------------------------------------------------------- */

static void call_make(struct jis_call *call, unsigned int place, const char *probe)
{
	*call = (struct jis_call){
		.places = place,
		.class = PROBE_CLASS,
		.method = probe,
		.descriptor = "(Ljava/lang/Object;)V",
		.nr_args = 1,
		.args = {{.kind = JIS_ARG_OBJECT}},
	};
}

static unsigned int on_method(void *context, const struct jis_method *m, struct jis_call *calls)
{
	call_make(&calls[0], JIS_AT_LOCKED, "monitorEnter");
	call_make(&calls[1], JIS_AT_UNLOCK, "monitorExit");
	return 2;
}

/* A class that comes anew has no calls until they are put in. */
static void name_forget(__u64 hash)
{
	__u32 i;

	pthread_mutex_lock(&rewritten.lock);
	for (i = 0; rewritten.room && i < rewritten.room; i++)
		if (rewritten.names[i] == hash && !enters_on)
			rewritten.names[i] = 1; /* no name's: places behind it are still found */
	pthread_mutex_unlock(&rewritten.lock);
}

/* Returns whether it is kept that the class has calls. */
static int class_keep(__u64 hash, const struct jis_plan *plan)
{
	int error;

	pthread_mutex_lock(&rewritten.lock);
	error = name_add(hash);
	rewritten.refused += plan->nr_refused;
	pthread_mutex_unlock(&rewritten.lock);
	return !error;
}

int enters_put(jobject loader, const char *name, struct jis_bytes *bytes)
{
	struct jis_plan plan = {.choose = on_method};
	struct jis_bytes out = {0};
	__u64 hash;

	if (!(agent.features & JIS_FEATURE_ALL_MONITORS) || !loader || !name || is_library(name))
		return 0;
	hash = name_hash(name, strlen(name));
	if (!__atomic_load_n(&enters_on, __ATOMIC_ACQUIRE)) {
		name_forget(hash);
		return 0;
	}
	if (jis_class_rewrite(bytes->data, bytes->size, &plan, &out) <= 0 ||
	    !class_keep(hash, &plan)) {
		jis_bytes_free(&out);
		return 0;
	}
	jis_bytes_free(bytes);
	*bytes = out;
	return 1;
}

/* Begin and end ------------------------------------------------------------------------------ */

int enters_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	if (agent.no_rewrite || !agent.hotspot)
		return -ENOTSUP;
	wanted->can_retransform_classes = 1;
	return potential->can_retransform_classes ? 0 : -ENOTSUP;
}

int enters_enable(JNIEnv *env)
{
	return objects_enable(env);
}

void enters_install(JNIEnv *env)
{
	const struct jis_native_method *native;
	jint failed;

	if (!(agent.features & JIS_FEATURE_ALL_MONITORS))
		return;
	for (native = enter_natives; native->name; native++) {
		if (hooks_probe_bound(env, native->name, native->descriptor))
			continue;
		agent.features &= ~JIS_FEATURE_ALL_MONITORS;
		recorder_note("native %s of java.lang.JProbe$ is not bound: enters of monitors are "
			      "not recorded",
			      native->name);
		return;
	}
	__atomic_store_n(&enters_on, 1, __ATOMIC_RELEASE);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
					   JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	failed = classes_retransform(env);
	if (failed)
		recorder_note("%d classes cannot be rewritten: enters of monitors in them are not "
			      "recorded",
			      failed);
	if (rewritten.refused)
		recorder_note("%u methods with monitors stay as they are: enters in them are not "
			      "recorded",
			      rewritten.refused);
}

static unsigned int nr_left(void)
{
	unsigned int i, n = 0;

	pthread_mutex_lock(&rewritten.lock);
	for (i = 0; i < rewritten.room; i++)
		n += rewritten.names[i] > 1;
	pthread_mutex_unlock(&rewritten.lock);
	return n;
}

static void all_forget(void)
{
	pthread_mutex_lock(&rewritten.lock);
	free(rewritten.names);
	rewritten.names = NULL;
	rewritten.room = rewritten.used = rewritten.refused = 0;
	pthread_mutex_unlock(&rewritten.lock);
}

int enters_remove(JNIEnv *env)
{
	const struct timespec step = {0, LOADING_STEP_MS * 1000000};
	int was = __atomic_exchange_n(&enters_on, 0, __ATOMIC_ACQ_REL), ms;

	/* A class with calls that is not there yet may just be on its way; one may be gone. */
	for (ms = 0; was && nr_left() && ms <= LOADING_WAIT_MS; ms += LOADING_STEP_MS) {
		if (ms)
			nanosleep(&step, NULL);
		classes_retransform(env);
	}
	all_forget();
	return was;
}
