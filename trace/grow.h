/* SPDX-License-Identifier: MIT */
/* Room for more in an array. Every library here may include this: it must include none of ours. */
#ifndef JIS_TRACE_GROW_H
#define JIS_TRACE_GROW_H

#include <stdlib.h>

/**
 * GROW - makes room for twice as many elements in @array, or for @least when there is none yet.
 *
 * @array is a pointer from malloc() or its kin, or NULL when @room is 0. It may move and stays the
 * caller's, to free() as before; what was in it is kept, what is new is not set. @room is for how
 * many elements there is room, of any integer type. Both are variables, which are changed, and are
 * evaluated more than once. @least is above 0, and the type of @room holds it.
 *
 * True; or false, and both are as they were: there is no memory, or twice @room is more than its
 * type holds, or so many elements are more bytes than size_t holds.
 */
#define GROW(array, room, least)                                                                   \
	({                                                                                         \
		typeof(room) room_ = (least);                                                      \
		typeof(array) grown_ = NULL;                                                       \
                                                                                                   \
		if (!(room) || !__builtin_mul_overflow(room, 2, &room_))                           \
			grown_ = reallocarray(array, room_, sizeof(*grown_));                      \
		if (grown_) {                                                                      \
			(array) = grown_;                                                          \
			(room) = room_;                                                            \
		}                                                                                  \
		grown_ != NULL;                                                                    \
	})

#endif /* JIS_TRACE_GROW_H */
