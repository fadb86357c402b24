# Installs the Debian packages given as arguments. Run as root, by tool.rs.
#
# Debian starts a server as soon as it is installed, on its well-known port. Ours are private, so the
# packages' servers are kept from starting by the means that Debian has for it: a policy that says no. A policy
# that is already there is the machine's own and stays as it is.
set -eu
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod 755 "$policy"
fi
apt-get update --quiet -o Acquire::Retries=3
# The lock may be held by a machine that updates itself.
apt-get install --quiet --yes --no-install-recommends \
    -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -- "$@"
