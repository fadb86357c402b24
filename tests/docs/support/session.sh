# The shell that a document's blocks are executed in, one after another: what they set and where they go stays.
# $DOCS is the folder of what the session itself keeps; the reader's folder is where it starts.
set -E -o pipefail

# A server of the document runs until the session ends, or until another is started in its place.
punk() {
  case $1 in
    serve) stop && __background "$@" ;;
    worker) __background "$@" ;;
    *) command punk "$@" ;;
  esac
}

# `cargo run --release --` is how a checkout without an installed binary says `punk`.
cargo() {
  if [ "$1 $2 $3" = "run --release --" ]; then
    shift 3
    punk "$@"
  else
    echo "this session's cargo only knows \`cargo run --release --\`" >&2
    return 2
  fi
}

# An answer that says no is a command that failed; a stream ends when it has been heard for a moment.
curl() {
  local status=0
  command curl -sS --fail-with-body ${__stream:+--max-time 2} "$@" || status=$?
  if [ -n "$__stream" ] && [ $status = 28 ]; then return 0; fi
  return $status
}

# Asks a model, for documents that begin where somebody has; `ask -H …` adds to it.
ask() {
  local url=http://127.0.0.1:$PUNK_PORT/v1/chat/completions
  local body='{"model":"gpt-4o","messages":[{"role":"user","content":"Where is my parcel?"}]}'
  curl -i "$url" ${PUNK_API_KEY:+-H "authorization: Bearer $PUNK_API_KEY"} "$@" -d "$body"
}

# Ends the server, as a reader would with Ctrl-C.
stop() {
  if [ -n "$__server" ]; then
    kill "$__server" && wait "$__server" || true
    __server=
  fi
}

__background() {
  __count=$((${__count:-0} + 1))
  local log=$DOCS/server-$__count.log
  command punk "$@" >"$log" 2>&1 &
  local pid=$!
  if [ "$1" = serve ]; then __server=$pid; fi
  for _ in $(seq 300); do
    if grep -Eq '(listens|works) on ' "$log"; then
      cat "$log"
      return 0
    fi
    if ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.05
  done
  cat "$log" >&2
  return 1
}

# Executes a file here, and says how its last command ended, and the first one that failed. $SAID is what the block before
# it said.
__run() {
  __failed=0
  trap '__status=$?; if [ $__failed = 0 ]; then __failed=$__status; fi' ERR
  source "$1" >"$2" 2>&1 </dev/null
  __last=$?
  trap - ERR
  SAID=$2
  echo "ended $__last $__failed"
}
