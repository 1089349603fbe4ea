/* SPDX-License-Identifier: MIT */
/*
 * Remote method invocation: what its natives (rmi.c) and the connections it goes over
 * (rmi_connections.c) share.
 */
#ifndef JIS_AGENT_RMI_H
#define JIS_AGENT_RMI_H

#include "waits.h"

int rmi_enable(JNIEnv *env);

/* A connection at its call that is under way. */
struct rmi_connection {
	__u32 id; /* 0: not known */
	__u32 call;
	int server;
};

/**
 * rmi_connection_begin - a call begins on connection @object, whose identity hash is @hash, as
 * @server or as client; inside. It is told of before its first one.
 */
void rmi_connection_begin(JNIEnv *env, jobject object, jint hash, int server,
			  struct rmi_connection *out);
/**
 * rmi_connection_of - which connection @object is, on which a call is under way; inside. Where the
 * first that is seen of one is no begin, it stays unknown: id 0. Its hash tells it, and where
 * several that are known have that, the object itself: one that is not known is taken for another
 * once in 2^31 times.
 */
void rmi_connection_of(JNIEnv *env, jobject object, jint hash, struct rmi_connection *out);
/* Ids are of one recording. Nobody may be inside. */
void rmi_connections_forget(JNIEnv *env);

/**
 * rmi_field - a field of the class of @object or of one above it, kept in *@field from then on.
 * NULL: there is none; no exception is left.
 */
jfieldID rmi_field(JNIEnv *env, jobject object, jfieldID *field, const char *name,
		   const char *type);
/* The object in such a field, a local reference; NULL also where @object is NULL. */
jobject rmi_object(JNIEnv *env, jobject object, jfieldID *field, const char *name,
		   const char *type);

#endif /* JIS_AGENT_RMI_H */
