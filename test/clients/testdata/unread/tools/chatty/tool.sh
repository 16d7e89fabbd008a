#!/usr/bin/env bash
# Reports, logs and asks until the server ends it, even if nobody reads. Short pauses leave the
# processor to the server.
echo "$$" >pid.new
mv pid.new "chatty.pid"
printf -v long '%01000d' 0
question="{\"message\":\"${long}\"}"
for ((i = 1; ; i++)); do
  printf '{"method":"notifications/progress","params":{"progress":%s,"message":"%s"}}\n' \
    "${i}" "${long}" >>"${MCP_PROGRESS_STREAM}"
  printf '{"method":"notifications/message","params":{"level":"error","data":"%s"}}\n' "${long}" >>"${MCP_LOG_STREAM}"
  printf '%s' "${question}" >"${MCP_ELICIT_REQUEST_FILE}.new"
  mv "${MCP_ELICIT_REQUEST_FILE}.new" "${MCP_ELICIT_REQUEST_FILE}"
  if ((i % 50 == 0)); then sleep 0.01; fi
done
