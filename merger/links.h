/* SPDX-License-Identifier: MIT */
/*
 * What leads from one thread to another: who woke whom, who gave a lock to whom, who gave whom a
 * connection to serve, who sent whom bytes; and the connections themselves. The model tells its
 * sinks of each link when it is complete. docs/model.md says from what each is known.
 */
#ifndef JIS_MERGER_LINKS_H
#define JIS_MERGER_LINKS_H

#include <stdbool.h>
#include <stdint.h>

enum model_link_kind {
	/* A wake-up by a target, of any wait: object and hash, or name, of what was waited for.
	 * Times as in struct model_wakeup. */
	MODEL_LINK_WAKEUP,
	/* A monitor: from who let it go and woke the next owner to that one, when it has it. */
	MODEL_LINK_MONITOR,
	/* A lock of java.util.concurrent for which a thread had parked; the same. */
	MODEL_LINK_LOCK,
	/* Object.wait: from the thread that ended the wait to the one that waited. */
	MODEL_LINK_NOTIFY,
	/* A park for anything else, as conditions, queues and futures are. */
	MODEL_LINK_UNPARK,
	/* A connection: from the thread that accepted or polled it, when that returned, to the one
	 * that reads from it next, when it does so. bytes: of that read. */
	MODEL_LINK_SOCKET,
	/* Both ends of a connection are traced: from the begin of a call that sent to the end of
	 * the one that received the last of its bytes. bytes: of the send. */
	MODEL_LINK_MESSAGE,
	/* A queue: from the thread that put an object in to the one that took it out. */
	MODEL_LINK_QUEUE,
	/* A remote call: from the client, when it sends it, to the thread that serves it, when it
	 * has its first byte; and its answer, back. Told when the call is over. */
	MODEL_LINK_CALL,
	MODEL_LINK_ANSWER,
	MODEL_NR_LINKS
};

/* A thread, and the virtual thread on it; MODEL_NO_THREAD: not known, none with a row. */
struct model_who {
	uint32_t thread, vthread;
};

struct model_link {
	enum model_link_kind kind;
	uint32_t process; /* of the receiver */
	struct model_who from, to;
	uint64_t begin, end;	   /* at the sender, at the receiver; begin <= end */
	uint32_t class_name, hash; /* model_name(), identity hash: of a lock, of what was waited for
				    */
	uint32_t name;		   /* model_name(): descriptor or path waited for */
	uint64_t connection;	   /* SOCKET; MESSAGE: the receiver's; else 0 */
	uint64_t bytes;
};

enum model_connection_origin {
	MODEL_CONNECTION_BEFORE, /* it was there before it was first seen */
	MODEL_CONNECTION_ACCEPTED,
	MODEL_CONNECTION_CONNECTED,
	MODEL_NR_ORIGINS
};

/* An end of a stream connection of the internet, in a traced process. */
struct model_connection {
	uint64_t number; /* from 1, in order of first sight */
	uint32_t process;
	int32_t fd;
	enum model_connection_origin origin;
	uint16_t family; /* AF_INET, AF_INET6; 0: addresses are not known, as by ftrace */
	uint16_t local_port, peer_port;
	uint8_t local[16], peer[16]; /* IPv4 within IPv6 is told as IPv4: four bytes */
	/* ns; TIME_NONE: not seen. opened: when it was accepted or connected, or first seen.
	 * closed: or when its descriptor was seen to be another's. */
	uint64_t opened, first_byte, last_byte, closed;
	bool complete; /* no records were lost while it was there, and it was seen from its begin */
	uint64_t bytes_in, bytes_out;
	uint64_t calls; /* recorded ones on it */
	/* Reads that brought bytes after bytes had gone the other way, or the first: requests at
	 * the end of a server, answers at a client's. */
	uint64_t requests;
	uint64_t handovers; /* of MODEL_LINK_SOCKET */
	/* Requests that were read by the thread that had polled or accepted, or served the last. */
	uint64_t kept;
	uint64_t messages;  /* MODEL_LINK_MESSAGE received */
	uint64_t other_end; /* number of the connection that is its other end, 0: none known */
	struct model_who opener;
	/* Those that read or wrote, in order; more: there were more than are listed. */
	const struct model_who *threads;
	uint32_t nr_threads;
	bool more_threads;
};

#define MODEL_CONNECTION_THREADS 1024 /* at most listed */

/* "wakeup", "monitor", ... */
const char *model_link_name(enum model_link_kind kind);
/* "accepted", ... */
const char *model_origin_name(enum model_connection_origin origin);

#define MODEL_ADDRESS_ROOM 56
/* "127.0.0.1:80", "[::1]:80"; "" where it is not known. @text: of MODEL_ADDRESS_ROOM. */
void model_address_text(const struct model_connection *c, bool peer, char *text);

#endif /* JIS_MERGER_LINKS_H */
