/* SPDX-License-Identifier: MIT */
/*
 * Markers of Java programs: class jis.Jis, in whichever loaders it turns up. Each copy gets its
 * natives and then its switch turned on; without an agent the switch stays off and no native is
 * ever called. No Java code runs here, so that the class is not initialized before its time.
 */
#include "agent.h"
#include "doings.h"
#include "methods.h"
#include "waits.h"

#define MARKER_CLASS "Ljis/Jis;"

/* What a span is called by in Java: its name's id, and of which recording that is. */
#define NAME_BITS 18u
#define NAME_MASK ((1u << NAME_BITS) - 1)
#define GENERATION_MASK (0x7fffffffu >> NAME_BITS)

static jint handle_of(__u32 name)
{
	return name && name <= NAME_MASK
		       ? (jint)((agent.generation & GENERATION_MASK) << NAME_BITS | name)
		       : 0;
}

static void JNICALL marker_event(JNIEnv *env, jclass class, jlong java_tid, jint type, jlong value)
{
	struct jis_ev_java_marker record = {(__u64)java_tid, (__u32)type, value};

	agent_write(JIS_EV_java_marker, &record, sizeof(record));
}

static jint JNICALL marker_begin(JNIEnv *env, jclass class, jlong java_tid, jstring string)
{
	struct jis_ev_span_begin record = {(__u64)java_tid, 0};
	char name[NAME_UTF8_MAX];
	jint handle = 0;
	int length;

	if (!agent_enter())
		return 0;
	if (agent_wants(JIS_EV_span_begin)) {
		length = name_of_string(env, string, name);
		record.name = length < 0 ? 0 : name_intern(name, (size_t)length);
		agent_write(JIS_EV_span_begin, &record, sizeof(record));
		handle = handle_of(record.name);
	}
	agent_leave();
	return handle;
}

static void JNICALL marker_end(JNIEnv *env, jclass class, jlong java_tid, jint handle)
{
	struct jis_ev_span_end record = {(__u64)java_tid, (__u32)handle & NAME_MASK};

	if (!agent_enter())
		return;
	if (handle == handle_of(record.name)) /* else it began in a former recording */
		agent_write(JIS_EV_span_end, &record, sizeof(record));
	agent_leave();
}

/* Spans around methods ----------------------------------------------------------------------- */

__u32 span_handle(const char *name, size_t length)
{
	return (__u32)handle_of(name_intern(name, length));
}

#define PROBE(name) Java_java_lang_JProbe_00024_##name

JNIEXPORT void JNICALL PROBE(spanBegin)(JNIEnv *env, jclass class, jint handle);
JNIEXPORT void JNICALL PROBE(spanEnd)(JNIEnv *env, jclass class, jint handle);

/* Both records have the same fields. */
static void span_tell(unsigned int id, JNIEnv *env, jint handle)
{
	struct jis_ev_span_begin record = {.name = (__u32)handle & NAME_MASK};
	struct current current;

	if (!handle || !enter_as(id, env, &current))
		return;
	record.java_tid = current.java_tid;
	if (handle == handle_of(record.name)) /* else it is of a former recording */
		agent_write(id, &record, sizeof(record));
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(spanBegin)(JNIEnv *env, jclass class, jint handle)
{
	span_tell(JIS_EV_span_begin, env, handle);
}

JNIEXPORT void JNICALL PROBE(spanEnd)(JNIEnv *env, jclass class, jint handle)
{
	span_tell(JIS_EV_span_end, env, handle);
}

static jfieldID switch_field(jclass class)
{
	jfieldID *fields = NULL, found = NULL;
	char *name, *type;
	jint n = 0, i;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, class, &n, &fields))
		return NULL;
	for (i = 0; i < n && !found; i++) {
		name = type = NULL;
		if ((*agent.jvmti)->GetFieldName(agent.jvmti, class, fields[i], &name, &type, NULL))
			continue;
		if (!strcmp(name, "on") && !strcmp(type, "Z"))
			found = fields[i];
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)type);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)fields);
	return found;
}

static void marker_class_off(JNIEnv *env, jclass class)
{
	jfieldID field = switch_field(class);

	if (field)
		(*env)->SetStaticBooleanField(env, class, field, JNI_FALSE);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

/* Binds the natives of one copy of the class and switches it on. */
static void marker_class_bind(JNIEnv *env, jclass class)
{
	static const JNINativeMethod natives[] = {
		{"event0", "(JIJ)V", (void *)marker_event},
		{"begin0", "(JLjava/lang/String;)I", (void *)marker_begin},
		{"end0", "(JI)V", (void *)marker_end},
	};
	jfieldID field = switch_field(class);

	if (field && (*env)->RegisterNatives(env, class, natives, 3) == JNI_OK)
		(*env)->SetStaticBooleanField(env, class, field, JNI_TRUE);
	else
		recorder_note("a class jis.Jis is not the one of this version: its markers are "
			      "not recorded");
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

static int is_marker_class(jclass class)
{
	char *signature = NULL;
	int is;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL))
		return 0;
	is = signature && !strcmp(signature, MARKER_CLASS);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
	return is;
}

void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	if (agent.features & JIS_FEATURE_METHODS)
		methods_prepared(env, class);
	if (agent.features & JIS_FEATURE_CLASSES)
		class_tell(env, thread, class);
	if (!(agent.features & JIS_FEATURE_MARKERS) || !is_marker_class(class) || !agent_enter())
		return;
	marker_class_bind(env, class);
	agent_leave();
}

static void marker_classes(JNIEnv *env, void (*each)(JNIEnv *env, jclass class))
{
	jclass *classes = NULL;
	jint n = 0, i, status;

	if ((*env)->PushLocalFrame(env, 16) < 0) {
		(*env)->ExceptionClear(env);
		return;
	}
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &classes))
		goto out;
	if ((*env)->EnsureLocalCapacity(env, n + 16) < 0) {
		(*env)->ExceptionClear(env);
		goto out;
	}
	for (i = 0; i < n; i++) {
		status = 0;
		if (is_marker_class(classes[i]) &&
		    !(*agent.jvmti)->GetClassStatus(agent.jvmti, classes[i], &status) &&
		    (status & JVMTI_CLASS_STATUS_PREPARED))
			each(env, classes[i]);
	}
out:
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)classes);
	(*env)->PopLocalFrame(env, NULL);
}

/* Copies prepared before the event was enabled; a copy bound twice is none the worse. */
void markers_scan(JNIEnv *env)
{
	marker_classes(env, marker_class_bind);
}

void markers_disable(JNIEnv *env)
{
	if (env)
		marker_classes(env, marker_class_off);
}
