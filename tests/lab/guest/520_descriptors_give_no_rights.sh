#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A descriptor of the device in the hands of somebody without rights is good for nothing: no call, no
# mapping; nor is a session of root's good for a member of the module's group. Root's session goes on.

# shellcheck source=tests/lab/guest/lib.sh
. "$(dirname "$0")/lib.sh"

rights=$JIS_BUILD/tests/lab/jisrights

load_module
"$rights" passed 65534 0 || fail "without a group: see above"
rmmod jis || fail "the module does not unload"
ok "nobody"

load_module gid=4321
chgrp 4321 /dev/jis && chmod 660 /dev/jis
"$rights" passed 65534 4321 || fail "with a group: see above"
ok "a member, with a session that shows all"
