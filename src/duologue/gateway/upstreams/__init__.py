"""Model servers that admins connect while the server runs: found, tested, stored, watched and served. Put together by `service`."""
