-- wrk's requests for POST /translate: wrk -c64 -t1 -d10s --latency -s translate.lua URL -- SENTENCES
local sentences, next_one = {}, 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    sentences[#sentences + 1] = line:gsub("[\\\"]", "\\%0"):gsub("%c", " ")
  end
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  next_one = next_one % #sentences + 1
  return wrk.format(nil, nil, nil, '{"q":"' .. sentences[next_one] .. '","source":"en","target":"fr"}')
end

function done(summary)
  local errors = summary.errors
  io.write(string.format("errors: %d of status, %d of connections, %d timeouts\n", errors.status,
                         errors.connect + errors.read + errors.write, errors.timeout))
end
