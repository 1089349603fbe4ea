/* SPDX-License-Identifier: MIT */
/*
 * Classes: prepared, as JVMTI tells; unloaded, by an extension event of HotSpot that is found by
 * name. The JVM tells of unloaded ones some time after they are gone.
 */
#include <stdarg.h>

#include "doings.h"

#define UNLOAD "com.sun.hotspot.events.ClassUnload"

static jint unload_event; /* 0: none */

void class_tell(JNIEnv *env, jthread thread, jclass class)
{
	struct jis_ev_class_prepare record;

	if (!enter_for_doing(JIS_EV_class_prepare))
		return;
	record.java_tid = java_tid_of(env, thread);
	record.class_name = class_name_id(class);
	agent_write(JIS_EV_class_prepare, &record, sizeof(record));
	agent_leave();
}

/* "java.lang.Object" or "java/lang/Object", as the version of the JVM has it. */
static __u32 unloaded_name(const char *name)
{
	char text[NAME_UTF8_MAX];
	size_t length = utf8_of_modified(text, name, strlen(name)), i;
	int dots = memchr(text, '.', length) != NULL;

	for (i = 0; i < length && !dots; i++)
		if (text[i] == '/')
			text[i] = '.';
	return name_intern(text, length);
}

/* HotSpot passes the class's name, as the class itself is no more. */
static void JNICALL on_unload(jvmtiEnv *jvmti, ...)
{
	struct jis_ev_class_unload record;
	const char *name;
	va_list args;

	va_start(args, jvmti);
	(void)va_arg(args, JNIEnv *);
	name = va_arg(args, const char *);
	va_end(args);
	if (!name || !enter_for(JIS_EV_class_unload))
		return;
	record.class_name = unloaded_name(name);
	agent_write(JIS_EV_class_unload, &record, sizeof(record));
	agent_leave();
}

void classes_enabled(JNIEnv *env)
{
	unload_event = agent.hotspot ? extension_event_find(UNLOAD) : 0;
	if (!unload_event || extension_event(unload_event, on_unload))
		recorder_note("unloaded classes are not recorded: this JVM does not tell");
}

void classes_disable(JNIEnv *env)
{
	if (unload_event)
		extension_event(unload_event, NULL);
}
