/* SPDX-License-Identifier: MIT */
/*
 * Remote method invocation, at both ends of each call: natives of JProbe$ that the hooks below call
 * in the JDK's own classes, whose names and shapes are the same in 17, 21 and 25. Nothing is added
 * to what goes over the wire: the server makes a UID for each call, and the client reads it with
 * the answer, so that the two ends are known to be of one call.
 *
 * No state is kept of a thread, as a virtual one changes its carrier within a call: records carry
 * the Java thread, the connection with the number of the call on it, and the hash of the object
 * that the call is. A connection serves one call at a time, but the next one may have begun before
 * the client's is told to be over, so that end is known by its object alone.
 */
#include "families.h"
#include "rmi.h"

#define PROBE(name) Java_java_lang_JProbe_00024_##name
#define CALL "sun/rmi/transport/StreamRemoteCall"
#define CONNECTION "Lsun/rmi/transport/Connection;"
#define OUT "Lsun/rmi/transport/ConnectionOutputStream;"
#define IN "Lsun/rmi/transport/ConnectionInputStream;"
#define UID "Ljava/rmi/server/UID;"
#define OBJECT_ID "Ljava/rmi/server/ObjID;"
#define ONE "(Ljava/lang/Object;)V"

/* A method of a call's class, and the native, with its parameters, that is called there. */
#define OF_CALL(name, type, native, arguments)                                                     \
	.class_name = CALL, .method = name, .descriptor = type, .probe = native,                   \
	.probe_descriptor = arguments

/* What the natives would have to ask the JVM for, each a tenth of a microsecond, is passed. */
#define HASH_OF_LOCAL(n)                                                                           \
	{                                                                                          \
		.kind = JIS_ARG_LOCAL, .value = n, .hash = 1                                       \
	}
#define FIELD(name, descriptor)                                                                    \
	{                                                                                          \
		.kind = JIS_ARG_FIELD, .field = name, .type = descriptor                           \
	}
#define HASH_OF_FIELD(name, descriptor)                                                            \
	{                                                                                          \
		.kind = JIS_ARG_FIELD, .field = name, .type = descriptor, .hash = 1                \
	}

const struct agent_hook rmi_hooks[] = {
	{.class_name = "sun/rmi/server/UnicastRef",
	 .method = "invoke",
	 .descriptor = "(Ljava/rmi/Remote;Ljava/lang/reflect/Method;[Ljava/lang/Object;J)"
		       "Ljava/lang/Object;",
	 .probe = "rmiInvoke",
	 .probe_descriptor = ONE,
	 .nr_locals = 1,
	 .locals = {2}},
	{OF_CALL("<init>", "(" CONNECTION OBJECT_ID "IJ)V", "rmiCall",
		 "(Ljava/lang/Object;Ljava/lang/Object;IJI)V"),
	 .nr_locals = 4, .locals = {1, 2, 3, 4}, .nr_more = 1, .more = {HASH_OF_LOCAL(1)}},
	{OF_CALL("<init>", "(" CONNECTION ")V", "rmiServe", "(Ljava/lang/Object;I)V"),
	 .nr_locals = 1, .locals = {1}, .nr_more = 1, .more = {HASH_OF_LOCAL(1)}},
	{OF_CALL("releaseOutputStream", "()V", "rmiRelease",
		 "(Ljava/lang/Object;Ljava/lang/Object;II)V"),
	 .nr_more = 4,
	 .more = {FIELD("out", OUT), FIELD("conn", CONNECTION), HASH_OF_FIELD("conn", CONNECTION),
		  HASH_OF_LOCAL(0)}},
	{OF_CALL("getInputStream", "()Ljava/io/ObjectInput;", "rmiInput",
		 "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
	 .nr_more = 3,
	 .more = {FIELD("in", IN), FIELD("conn", CONNECTION), HASH_OF_FIELD("conn", CONNECTION)}},
	{OF_CALL("executeCall", "()V", "rmiThrown", ONE), .nr_locals = 1, .locals = {0},
	 .places = JIS_AT_THROW},
	{OF_CALL("done", "()V", "rmiDone", "(Ljava/lang/Object;I)V"), .nr_more = 2,
	 .more = {FIELD("in", IN), HASH_OF_LOCAL(0)}},
	{OF_CALL("getResultStream", "(Z)Ljava/io/ObjectOutput;", "rmiResult",
		 "(Ljava/lang/Object;Z)V"),
	 .nr_locals = 2, .locals = {0, 1}},
	{.class_name = "sun/rmi/server/UnicastServerRef",
	 .method = "logCall",
	 .descriptor = "(Ljava/rmi/Remote;Ljava/lang/Object;)V",
	 .probe = "rmiDispatch",
	 .probe_descriptor = "(Ljava/lang/Object;Ljava/lang/Object;)V",
	 .nr_locals = 2,
	 .locals = {0, 2}},
	{.class_name = NULL},
};

static jclass method_class; /* java.lang.reflect.Method: global reference, for good */

int rmi_enable(JNIEnv *env)
{
	jclass class = method_class ? NULL : (*env)->FindClass(env, "java/lang/reflect/Method");

	exception_clear(env);
	if (class) {
		method_class = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	return threads_enable(env);
}

/*
 * What the objects hold. No reference is given back: the JVM takes all of them when the native
 * returns, and asking it for that takes as long as getting them.
 */

struct uid {
	__s32 unique;
	__s64 time;
	__s32 count;
};

/* All 0 where there is none. */
static void uid_read(JNIEnv *env, jobject uid, struct uid *out)
{
	static jfieldID unique, time, count;

	*out = (struct uid){0, 0, 0};
	if (!uid)
		return;
	if (rmi_field(env, uid, &unique, "unique", "I") &&
	    rmi_field(env, uid, &time, "time", "J") && rmi_field(env, uid, &count, "count", "S")) {
		out->unique = (*env)->GetIntField(env, uid, unique);
		out->time = (*env)->GetLongField(env, uid, time);
		out->count = (*env)->GetShortField(env, uid, count);
	}
}

/* The number of an ObjID, and its @space. */
static __s64 object_id_read(JNIEnv *env, jobject id, struct uid *space)
{
	static jfieldID number, space_field;

	uid_read(env, rmi_object(env, id, &space_field, "space", UID), space);
	if (!id || !rmi_field(env, id, &number, "objNum", "J"))
		return 0;
	return (*env)->GetLongField(env, id, number);
}

/* The UID that a call's stream has written (@field: of such streams) or read; 0: it has none. */
static int stream_uid(JNIEnv *env, jobject stream, jfieldID *field, struct uid *out)
{
	jobject uid = rmi_object(env, stream, field, "ackID", UID);

	uid_read(env, uid, out);
	return uid != NULL;
}

/* The client --------------------------------------------------------------------------------- */

JNIEXPORT void JNICALL PROBE(rmiInvoke)(JNIEnv *env, jclass class, jobject method);
JNIEXPORT void JNICALL PROBE(rmiCall)(JNIEnv *env, jclass class, jobject connection, jobject id,
				      jint operation, jlong hash, jint connection_hash);
JNIEXPORT void JNICALL PROBE(rmiRelease)(JNIEnv *env, jclass class, jobject out, jobject connection,
					 jint connection_hash, jint call_hash);
JNIEXPORT void JNICALL PROBE(rmiInput)(JNIEnv *env, jclass class, jobject in, jobject connection,
				       jint connection_hash);
JNIEXPORT void JNICALL PROBE(rmiThrown)(JNIEnv *env, jclass class, jobject call);
JNIEXPORT void JNICALL PROBE(rmiDone)(JNIEnv *env, jclass class, jobject in, jint call_hash);

static __u32 method_id(JNIEnv *env, jobject method)
{
	jmethodID id = (*env)->FromReflectedMethod(env, method);

	if (id)
		return method_place(env, id, 0, NULL);
	exception_clear(env);
	return 0;
}

JNIEXPORT void JNICALL PROBE(rmiInvoke)(JNIEnv *env, jclass class, jobject method)
{
	struct jis_ev_rmi_invoke record;
	struct current current;

	if (!method || !enter_as(JIS_EV_rmi_invoke, env, &current))
		return;
	record = (struct jis_ev_rmi_invoke){current.java_tid, method_id(env, method)};
	agent_write(JIS_EV_rmi_invoke, &record, sizeof(record));
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(rmiCall)(JNIEnv *env, jclass class, jobject connection, jobject id,
				      jint operation, jlong hash, jint connection_hash)
{
	struct rmi_connection on;
	struct current current;
	struct uid space;
	__s64 object;

	if (!connection || !id || !enter_as(JIS_EV_rmi_call, env, &current))
		return;
	rmi_connection_begin(env, connection, connection_hash, 0, &on);
	object = object_id_read(env, id, &space);
	agent_write(JIS_EV_rmi_call,
		    &(struct jis_ev_rmi_call){.java_tid = current.java_tid,
					      .connection = on.id,
					      .call = on.call,
					      .operation = operation,
					      .hash = (__u64)hash,
					      .object = object,
					      .space_unique = space.unique,
					      .space_time = space.time,
					      .space_count = space.count},
		    sizeof(struct jis_ev_rmi_call));
	agent_leave();
}

/* What has been written is sent: a call, or (its stream has a UID) an answer. */
JNIEXPORT void JNICALL PROBE(rmiRelease)(JNIEnv *env, jclass class, jobject out, jobject connection,
					 jint connection_hash, jint call_hash)
{
	static jfieldID field;
	struct rmi_connection on;
	struct current current;
	struct uid uid;

	/* Without a stream it has been sent before. */
	if (!out || !connection || !agent_enter())
		return;
	current_number(env, &current);
	rmi_connection_of(env, connection, connection_hash, &on);
	/* A client reads UIDs only. */
	if ((!on.id || on.server) && stream_uid(env, out, &field, &uid)) {
		const struct jis_ev_rmi_answer record = {current.java_tid, on.id,    on.call,
							 uid.unique,	   uid.time, uid.count};

		agent_write(JIS_EV_rmi_answer, &record, sizeof(record));
	} else {
		const struct jis_ev_rmi_send record = {current.java_tid, on.id, on.call,
						       (__u32)call_hash};

		agent_write(JIS_EV_rmi_send, &record, sizeof(record));
	}
	agent_leave();
}

/* The first byte is there: of an answer, or of a call, which rmi_serve has told. */
JNIEXPORT void JNICALL PROBE(rmiInput)(JNIEnv *env, jclass class, jobject in, jobject connection,
				       jint connection_hash)
{
	struct jis_ev_rmi_reply record;
	struct rmi_connection on;
	struct current current;

	if (in || !connection || !enter_for(JIS_EV_rmi_reply))
		return;
	rmi_connection_of(env, connection, connection_hash, &on);
	if (!on.server) {
		current_number(env, &current);
		record = (struct jis_ev_rmi_reply){current.java_tid, on.id, on.call};
		agent_write(JIS_EV_rmi_reply, &record, sizeof(record));
	}
	agent_leave();
}

static void return_tell(JNIEnv *env, __u32 call_hash, jobject in, __u32 result)
{
	static jfieldID field;
	struct jis_ev_rmi_return record;
	struct current current;
	struct uid uid = {0, 0, 0};

	if (!enter_as(JIS_EV_rmi_return, env, &current))
		return;
	if (in)
		stream_uid(env, in, &field, &uid);
	record = (struct jis_ev_rmi_return){current.java_tid, call_hash, result,
					    uid.unique,	      uid.time,	 uid.count};
	agent_write(JIS_EV_rmi_return, &record, sizeof(record));
	agent_leave();
}

/* With an exception: the server's, or its own. */
JNIEXPORT void JNICALL PROBE(rmiThrown)(JNIEnv *env, jclass class, jobject call)
{
	static jfieldID in_field, exception_field;
	jobject in, exception;
	jint hash = 0;

	if (!call || !agent_recording())
		return;
	in = rmi_object(env, call, &in_field, "in", IN);
	exception =
		rmi_object(env, call, &exception_field, "serverException", "Ljava/lang/Exception;");
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, call, &hash))
		hash = 0;
	return_tell(env, (__u32)hash, in, exception ? JIS_RMI_THROWN : JIS_RMI_FAILED);
}

/* The result has been read. A call that is done with twice has given its stream back before. */
JNIEXPORT void JNICALL PROBE(rmiDone)(JNIEnv *env, jclass class, jobject in, jint call_hash)
{
	if (in)
		return_tell(env, (__u32)call_hash, in, JIS_RMI_RETURNED);
}

/* The server --------------------------------------------------------------------------------- */

JNIEXPORT void JNICALL PROBE(rmiServe)(JNIEnv *env, jclass class, jobject connection,
				       jint connection_hash);
JNIEXPORT void JNICALL PROBE(rmiDispatch)(JNIEnv *env, jclass class, jobject server,
					  jobject method);
JNIEXPORT void JNICALL PROBE(rmiResult)(JNIEnv *env, jclass class, jobject call, jboolean returned);

JNIEXPORT void JNICALL PROBE(rmiServe)(JNIEnv *env, jclass class, jobject connection,
				       jint connection_hash)
{
	struct jis_ev_rmi_serve record;
	struct rmi_connection on;
	struct current current;

	if (!connection || !enter_as(JIS_EV_rmi_serve, env, &current))
		return;
	rmi_connection_begin(env, connection, connection_hash, 1, &on);
	record = (struct jis_ev_rmi_serve){current.java_tid, on.id, on.call};
	agent_write(JIS_EV_rmi_serve, &record, sizeof(record));
	agent_leave();
}

/* What an old skeleton (those of the registry and of DGC) calls its method. */
static __u32 operation_id(JNIEnv *env, jobject operation)
{
	static jfieldID field;
	jobject string = rmi_object(env, operation, &field, "operation", "Ljava/lang/String;");
	char text[NAME_UTF8_MAX];
	int length = string ? name_of_string(env, string, text) : -1;

	if (string)
		(*env)->DeleteLocalRef(env, string);
	return length > 0 ? name_intern(text, (size_t)length) : 0;
}

JNIEXPORT void JNICALL PROBE(rmiDispatch)(JNIEnv *env, jclass class, jobject server, jobject method)
{
	static jfieldID ref_field, id_field;
	struct jis_ev_rmi_dispatch record = {0};
	struct current current;
	struct uid space;
	jobject ref;

	if (!server || !method || !enter_as(JIS_EV_rmi_dispatch, env, &current))
		return;
	ref = rmi_object(env, server, &ref_field, "ref", "Lsun/rmi/transport/LiveRef;");
	record.object =
		object_id_read(env, rmi_object(env, ref, &id_field, "id", OBJECT_ID), &space);
	record.java_tid = current.java_tid;
	record.space_unique = space.unique;
	record.space_time = space.time;
	record.space_count = space.count;
	if (method_class && (*env)->IsInstanceOf(env, method, method_class))
		record.method = method_id(env, method);
	else
		record.operation = operation_id(env, method);
	agent_write(JIS_EV_rmi_dispatch, &record, sizeof(record));
	agent_leave();
}

JNIEXPORT void JNICALL PROBE(rmiResult)(JNIEnv *env, jclass class, jobject call, jboolean returned)
{
	struct jis_ev_rmi_result record;
	struct current current;

	if (!call || !enter_as(JIS_EV_rmi_result, env, &current))
		return;
	record = (struct jis_ev_rmi_result){current.java_tid,
					    returned ? JIS_RMI_RETURNED : JIS_RMI_THROWN};
	agent_write(JIS_EV_rmi_result, &record, sizeof(record));
	agent_leave();
}
