/* SPDX-License-Identifier: MIT */
/*
 * Monitors: enters that have to wait, and Object.wait. JVMTI calls on the thread that waits, before
 * and after.
 */
#include "class_waits.h"
#include "waits.h"

/* What Thread.holdsLock is in the JVM, which exports it to its libraries. */
static jboolean (*holds_lock)(JNIEnv *env, jclass class, jobject object);

int monitors_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted)
{
	if (!holds_lock && agent.hotspot)
		*(void **)&holds_lock = vm_symbol("JVM_HoldsLock");
	wanted->can_generate_monitor_events = 1;
	return potential->can_generate_monitor_events ? 0 : -ENOTSUP;
}

void JNICALL on_contended_enter(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	struct jis_ev_monitor_contended_enter record;
	struct object what;
	struct owner owner;

	if (owners_trial(env) || !enter_for(JIS_EV_monitor_contended_enter))
		return;
	owner_of_pending(env, object, &owner); /* first: it is a snapshot */
	object_describe(env, object, &what);
	record.java_tid = java_tid_of(env, thread);
	record.class_name = what.class_name;
	record.hash = what.hash;
	record.owner_tid = owner.tid;
	record.owner_java_tid = owner.java_tid;
	stack_wait_begins(env, record.java_tid, WAIT_ENTER);
	agent_write(JIS_EV_monitor_contended_enter, &record, sizeof(record));
	agent_leave();
}

void JNICALL on_contended_entered(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object)
{
	struct jis_ev_monitor_contended_entered record;
	struct object what;

	if (owners_trial_is(env) || !enter_for(JIS_EV_monitor_contended_entered))
		return;
	object_describe(env, object, &what);
	record.java_tid = java_tid_of(env, thread);
	record.class_name = what.class_name;
	record.hash = what.hash;
	stack_wait_ends(env, record.java_tid, WAIT_ENTER);
	agent_write(JIS_EV_monitor_contended_entered, &record, sizeof(record));
	agent_leave();
}

/*
 * HotSpot tells that a wait begins before it looks whether it may: one that throws at once, for
 * want of the monitor or for a negative timeout, has no end.
 */
static int wait_throws(JNIEnv *env, jobject object, jlong timeout)
{
	return timeout < 0 || (holds_lock && !holds_lock(env, NULL, object));
}

void JNICALL on_wait(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object, jlong timeout)
{
	struct jis_ev_monitor_wait record;
	struct object what;

	if (wait_throws(env, object, timeout) || !enter_for(JIS_EV_monitor_wait))
		return;
	object_describe(env, object, &what);
	record.java_tid = java_tid_of(env, thread);
	record.class_name = what.class_name;
	record.hash = what.hash;
	record.timeout = timeout <= 0 ? -1 : ns_of_ms(timeout);
	stack_wait_begins(env, record.java_tid, WAIT_OBJECT);
	agent_write(JIS_EV_monitor_wait, &record, sizeof(record));
	agent_leave();
}

void JNICALL on_waited(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jobject object,
		       jboolean timed_out)
{
	struct jis_ev_monitor_waited record;
	struct object what;

	if (class_waits_trial_is(env) || !enter_for(JIS_EV_monitor_waited))
		return;
	object_describe(env, object, &what);
	record.java_tid = java_tid_of(env, thread);
	class_wait_ended(env, record.java_tid);
	record.class_name = what.class_name;
	record.hash = what.hash;
	record.timed_out = timed_out ? 1 : 0;
	stack_wait_ends(env, record.java_tid, WAIT_OBJECT);
	agent_write(JIS_EV_monitor_waited, &record, sizeof(record));
	agent_leave();
}
