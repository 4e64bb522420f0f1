#!/bin/sh
# Makes the secrets that the compose files read, each in a file of deploy/secrets: the admin's key of the server, and
# the passwords of PostgreSQL and of Grafana's admin. What is there already stays.
#
# A container reads them as a user of its own (10001 and others), so the files are readable by everyone; the folder is not, and
# that keeps the other users of this machine out.
set -eu
folder=$(dirname "$0")/secrets
mkdir -p "$folder"
chmod 700 "$folder"
for name in duologue_key postgres_password grafana_password; do
    file=$folder/$name
    if [ -s "$file" ]; then
        echo "$file: kept"
        continue
    fi
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$file.new"
    echo >>"$file.new"
    chmod 644 "$file.new"
    mv "$file.new" "$file"
    echo "$file: made"
done
echo "The page asks once for the key in $folder/duologue_key."
