/* SPDX-License-Identifier: MIT */
/*
 * The connections of remote calls. One is found by the identity hash of its object, and known to be
 * it by a weak reference; those of connections that are gone are dropped when others come to their
 * place. Addresses are asked of the kernel by the socket's descriptor: no code of the program runs.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "rmi.h"

#define BUCKETS 4096u
#define LOCKS 64u /* one for every 64th bucket */
#define LAYERS_MAX 4
#define ENDPOINT_MAX (NAME_UTF8_MAX + 16)

struct connection {
	struct connection *next;
	jweak object;
	jint hash;
	struct rmi_connection now;
};

static struct connection *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS] = {[0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};
static __u32 last_id;

jfieldID rmi_field(JNIEnv *env, jobject object, jfieldID *field, const char *name, const char *type)
{
	jfieldID found = __atomic_load_n(field, __ATOMIC_ACQUIRE);
	jclass class;

	if (found || !object)
		return found;
	class = (*env)->GetObjectClass(env, object);
	if (!class)
		return NULL;
	found = (*env)->GetFieldID(env, class, name, type);
	exception_clear(env);
	(*env)->DeleteLocalRef(env, class);
	__atomic_store_n(field, found, __ATOMIC_RELEASE);
	return found;
}

jobject rmi_object(JNIEnv *env, jobject object, jfieldID *field, const char *name, const char *type)
{
	jfieldID id = object ? rmi_field(env, object, field, name, type) : NULL;

	return id ? (*env)->GetObjectField(env, object, id) : NULL;
}

/* What is told of one ------------------------------------------------------------------------ */

/* Is it of a class of this name, or of one below it? No class is loaded for it. */
static int is_a(JNIEnv *env, jobject object, const char *name)
{
	jclass class = (*env)->GetObjectClass(env, object), above;
	char text[NAME_UTF8_MAX];
	size_t length;

	while (class) {
		length = class_name_text(class, text);
		if (length == strlen(name) && !memcmp(text, name, length))
			break;
		above = (*env)->GetSuperclass(env, class);
		(*env)->DeleteLocalRef(env, class);
		class = above;
	}
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return class != NULL;
}

/* @object or, in its place, what is in its field: both are local references. */
static jobject step(JNIEnv *env, jobject object, const char *name, const char *type)
{
	jfieldID none = NULL;
	jobject next = rmi_object(env, object, &none, name, type);

	(*env)->DeleteLocalRef(env, object);
	return next;
}

/* What a layered socket lies upon at last; takes the reference and gives one. */
static jobject socket_below(JNIEnv *env, jobject socket)
{
	int i;

	for (i = 0; socket && i < LAYERS_MAX; i++) {
		jobject before = socket, self;
		jfieldID none = NULL;

		if (!is_a(env, socket, "sun.security.ssl.BaseSSLSocketImpl"))
			break;
		self = rmi_object(env, socket, &none, "self", "Ljava/net/Socket;");
		if (!self || (*env)->IsSameObject(env, self, socket)) {
			if (self)
				(*env)->DeleteLocalRef(env, self);
			break;
		}
		socket = self;
		(*env)->DeleteLocalRef(env, before);
	}
	return socket;
}

/* The descriptor of a socket; takes its reference. -1: it has none, or another kind of it. */
static int socket_fd(JNIEnv *env, jobject socket)
{
	jfieldID none = NULL, number;
	jobject impl, fd;
	int i, value = -1;

	socket = socket_below(env, socket);
	impl = socket ? step(env, socket, "impl", "Ljava/net/SocketImpl;") : NULL;
	for (i = 0; impl && i < LAYERS_MAX && is_a(env, impl, "java.net.DelegatingSocketImpl"); i++)
		impl = step(env, impl, "delegate", "Ljava/net/SocketImpl;");
	fd = impl ? step(env, impl, "fd", "Ljava/io/FileDescriptor;") : NULL;
	if (!fd)
		return -1;
	number = rmi_field(env, fd, &none, "fd", "I");
	if (number)
		value = (*env)->GetIntField(env, fd, number);
	(*env)->DeleteLocalRef(env, fd);
	return value;
}

/* Returns the family, 0: no address of the internet. */
static __u32 address_put(const struct sockaddr_storage *from, __u32 *port, __u64 *first,
			 __u64 *second)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)from;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	__u64 bytes[2] = {0, 0};

	if (from->ss_family == AF_INET) {
		memcpy(bytes, &in->sin_addr, sizeof(in->sin_addr));
		*port = ntohs(in->sin_port);
	} else if (from->ss_family == AF_INET6) {
		memcpy(bytes, &in6->sin6_addr, sizeof(in6->sin6_addr));
		*port = ntohs(in6->sin6_port);
	} else {
		return 0;
	}
	*first = bytes[0];
	*second = bytes[1];
	return from->ss_family;
}

static void addresses_ask(int fd, struct jis_ev_rmi_connection *record)
{
	struct sockaddr_storage local, remote;
	socklen_t local_size = sizeof(local), remote_size = sizeof(remote);
	__u64 first, second;
	__u32 port;

	if (fd < 0 || getsockname(fd, (struct sockaddr *)&local, &local_size) ||
	    getpeername(fd, (struct sockaddr *)&remote, &remote_size))
		return;
	if (!address_put(&local, &port, &first, &second))
		return;
	record->local_port = port;
	record->local0 = first;
	record->local1 = second;
	record->family = address_put(&remote, &port, &first, &second);
	record->peer_port = port;
	record->peer0 = first;
	record->peer1 = second;
}

/* "host:port" of the other end as the JVM has it; its length. */
static size_t endpoint_text(JNIEnv *env, jobject connection, char out[ENDPOINT_MAX])
{
	jfieldID none[4] = {NULL, NULL, NULL, NULL}, port;
	jobject channel =
		rmi_object(env, connection, &none[0], "channel", "Lsun/rmi/transport/Channel;");
	jobject end, host;
	int length = 0;

	out[0] = 0;
	end = channel ? step(env, channel, "ep", "Lsun/rmi/transport/tcp/TCPEndpoint;") : NULL;
	if (!end)
		return 0;
	host = rmi_object(env, end, &none[1], "host", "Ljava/lang/String;");
	if (host) {
		length = name_of_string(env, host, out);
		(*env)->DeleteLocalRef(env, host);
	}
	length = length > 0 ? length : 0;
	port = rmi_field(env, end, &none[2], "port", "I");
	if (port)
		length += snprintf(out + length, ENDPOINT_MAX - (size_t)length, ":%d",
				   (*env)->GetIntField(env, end, port));
	(*env)->DeleteLocalRef(env, end);
	return (size_t)length;
}

static void connection_tell(JNIEnv *env, jobject object, const struct rmi_connection *now)
{
	struct jis_ev_rmi_connection record = {.id = now->id, .server = (__u32)now->server};
	char endpoint[ENDPOINT_MAX] = "";
	jfieldID none = NULL;
	size_t length = 0;
	jobject socket;
	jclass class;

	if (is_a(env, object, "sun.rmi.transport.tcp.TCPConnection")) {
		length = endpoint_text(env, object, endpoint);
		socket = rmi_object(env, object, &none, "socket", "Ljava/net/Socket;");
		class = socket ? (*env)->GetObjectClass(env, socket) : NULL;
		if (class) {
			record.socket = class_name_id(class);
			(*env)->DeleteLocalRef(env, class);
		}
		if (socket)
			addresses_ask(socket_fd(env, socket), &record);
	}
	dict_write(JIS_EV_rmi_connection, &record,
		   offsetof(struct jis_ev_rmi_connection, endpoint_length), endpoint, length);
}

/* Which they are ----------------------------------------------------------------------------- */

/* The place of @object's entry, or of the end of its list; what is gone on the way there is dropped
 * where @drop says so. The bucket's lock is held. */
static struct connection **place_of(JNIEnv *env, jobject object, jint hash, int drop)
{
	struct connection **at = &buckets[(__u32)hash % BUCKETS], *c;

	while ((c = *at)) {
		if (c->hash == hash && (*env)->IsSameObject(env, c->object, object))
			break;
		if (drop && (*env)->IsSameObject(env, c->object, NULL)) {
			*at = c->next;
			(*env)->DeleteWeakGlobalRef(env, c->object);
			free(c);
		} else {
			at = &c->next;
		}
	}
	return at;
}

static struct connection *connection_new(JNIEnv *env, jobject object, jint hash, int server)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->object = (*env)->NewWeakGlobalRef(env, object);
	if (!c->object) {
		exception_clear(env);
		free(c);
		return NULL;
	}
	c->hash = hash;
	c->now.server = server;
	c->now.id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	return c;
}

void rmi_connection_begin(JNIEnv *env, jobject object, jint hash, int server,
			  struct rmi_connection *out)
{
	pthread_mutex_t *lock = &locks[(__u32)hash % LOCKS];
	struct connection **at;
	int new = 0;

	*out = (struct rmi_connection){.server = server};
	pthread_mutex_lock(lock);
	at = place_of(env, object, hash, 0);
	if (!*at) {
		at = place_of(env, object, hash, 1);
		*at = connection_new(env, object, hash, server);
		new = *at != NULL;
	}
	if (*at) {
		(*at)->now.call++;
		*out = (*at)->now;
	}
	pthread_mutex_unlock(lock);
	/* One call at a time uses it: nobody else writes of it before. */
	if (new)
		connection_tell(env, object, out);
}

void rmi_connection_of(JNIEnv *env, jobject object, jint hash, struct rmi_connection *out)
{
	pthread_mutex_t *lock = &locks[(__u32)hash % LOCKS];
	const struct connection *c, *found = NULL;
	int nr = 0;

	*out = (struct rmi_connection){0};
	pthread_mutex_lock(lock);
	for (c = buckets[(__u32)hash % BUCKETS]; c; c = c->next) {
		if (c->hash != hash)
			continue;
		found = c;
		nr++;
	}
	if (nr > 1)
		found = *place_of(env, object, hash, 0);
	if (found)
		*out = found->now;
	pthread_mutex_unlock(lock);
}

void rmi_connections_forget(JNIEnv *env)
{
	struct connection *c;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		while ((c = buckets[i])) {
			buckets[i] = c->next;
			(*env)->DeleteWeakGlobalRef(env, c->object);
			free(c);
		}
	}
	last_id = 0;
}
