local requests, number = {}, 0
function init()
   local count = tonumber(wrk.headers["X-Names"])
   for i = 1, count do
      requests[i] = wrk.format(nil, nil, {Host = ("d%05d.test"):format(800 / count * i)})
   end
end
function request()
   number = number % #requests + 1
   return requests[number]
end
-- The laboratory's reporter for wrk 4: all that wrk knows at its end, as JSON in the file that its last argument names.
--
--   wrk -t2 -c8 -d5s --latency -s reporter.lua URL -- FILE CONNECTIONS
--
-- It defines no request(), response() or delay(), so that wrk sends its one prepared request as it does without a
-- script.  wrk asks each thread's Lua for that request once, when the thread begins: this is where the clock is read.
-- What a script of the study before it defines is called too.

local found, ffi = pcall(require, "ffi")
if found then
   ffi.cdef [[
      typedef struct { long seconds; long nanoseconds; } reporter_time;
      int clock_gettime(int clock, reporter_time *time);
      typedef struct { uint64_t count, limit, min, max; uint64_t data[?]; } reporter_stats;
   ]]
end

local function now_us()
   if not found then return os.time() * 1e6 end
   local time = ffi.new("reporter_time")
   ffi.C.clock_gettime(0, time)  -- CLOCK_REALTIME, the same in every host of one machine
   return tonumber(time.seconds) * 1e6 + math.floor(tonumber(time.nanoseconds) / 1000)
end

local threads, own_setup, own_done = {}, setup, done
function setup(thread)
   table.insert(threads, thread)
   local checked = thread.addr
   if own_setup then own_setup(thread) end
   thread.addr = checked  -- load goes to the target that was checked, whatever the script says
end

local prepare = wrk.init
function wrk.init(args)
   reporter_file, reporter_connections = args[1], args[2]
   reporter_url = args[0]
   prepare(args)
   local request = wrk.request
   wrk.request = function() reporter_started_us = now_us(); return request() end
end

local function text(value)
   local function escaped(c) return string.format("\\u%04x", c:byte()) end
   return '"' .. tostring(value):gsub('[%c"\\]', escaped) .. '"'
end

-- latency(i) looks for its counter from the start each time: with 100,000 of them that takes minutes.  So they are
-- read where they lie, once wrk's own functions agree that they lie there (struct stats, src/stats.h of wrk 4).
local function counters(latency)
   local values, least, most = {}, latency.min, latency.max
   if most < least then return values end
   local stats
   if found then
      stats = ffi.cast("reporter_stats **", latency)[0]
      local first, count = latency(1)
      local same = tonumber(stats.min) == least and tonumber(stats.max) == most and most < tonumber(stats.limit)
      if not (same and first == least and tonumber(stats.data[first]) == count) then stats = nil end
   end
   if stats then
      for value = least, most do
         local count = tonumber(stats.data[value])
         if count > 0 then values[#values + 1] = string.format("[%d, %.0f]", value, count) end
      end
   elseif #latency * (most - least) < 1e9 then  -- a second of work or two
      for i = 1, #latency do values[i] = string.format("[%d, %.0f]", latency(i)) end
   else
      return nil
   end
   return values
end

function done(summary, latency, requests)
   local ended, started = now_us(), {}
   for i, thread in ipairs(threads) do
      started[i] = string.format("%.0f", thread:get("reporter_started_us") or ended - summary.duration)
   end
   local first = threads[1]
   local out = assert(io.open(first:get("reporter_file"), "w"))
   local function line(...) out:write(string.format(...), "\n") end
   line('{"wrk_reporter": 1,')
   line('"url": %s,', text(first:get("reporter_url")))
   line('"threads": %d,\n"connections": %d,', #threads, tonumber(first:get("reporter_connections")))
   line('"started_us": [%s],\n"ended_us": %.0f,', table.concat(started, ", "), ended)
   line('"duration_us": %.0f,\n"requests": %.0f,\n"bytes": %.0f,', summary.duration, summary.requests, summary.bytes)
   local errors = {}
   for i, name in ipairs { "connect", "read", "write", "status", "timeout" } do
      errors[i] = string.format('"%s": %d', name, summary.errors[name])
   end
   line('"errors": {%s},', table.concat(errors, ", "))
   local values, percentiles = counters(latency), {}
   if latency.max >= latency.min then
      line('"latency_us": {"min": %d, "max": %d, "mean": %.17g, "stdev": %.17g},',
           latency.min, latency.max, latency.mean, latency.stdev)
      for i, rank in ipairs { 50, 75, 90, 95, 99, 99.9, 99.99, 99.999 } do
         percentiles[i] = string.format('"%g": %d', rank, latency:percentile(rank))
      end
   else
      line('"latency_us": null,')
   end
   line('"percentiles_us": {%s},', table.concat(percentiles, ", "))
   line('"counters_us": %s}', values and "[\n" .. table.concat(values, ",\n") .. "\n]" or "null")
   out:close()
   if own_done then own_done(summary, latency, requests) end
end
