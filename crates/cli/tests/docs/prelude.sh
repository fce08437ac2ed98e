# Comes before the lines of a page. Each block's output is kept until the block has gone well.
unset BASH_ENV
set -Eeuo pipefail
exec 3>&1
said=$PAGE_STATE/said
at=0 wanted= failed_at= why=

# begin LINE [TEXT]: a block, which must say TEXT if one is given.
begin() {
    at=$1 wanted=${2-}
    exec >"$said" 2>&1
    if [[ $wanted ]]; then set +e; fi
}

end() {
    set -e
    failed_at=
    if [[ $wanted ]]; then
        grep -qF -- "$wanted" "$said" || { why="it was to be refused with: $wanted"; exit 1; }
    elif grep -q '"problem":{' "$said"; then
        why='a part of it was refused'
        exit 1
    fi
    exec >&3 2>&3
}

trap 'failed_at=$LINENO' ERR
trap '
    status=$?
    exec >&3 2>&3
    if ((status)); then
        echo "line ${failed_at:-$at}: ${why:-exit code $status}"
        sed "s|^.*/page.sh: line|line|" "$said"
    fi' EXIT
