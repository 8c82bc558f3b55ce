// Reads one report of wrk, wrk2, ab or hey, and checks the numbers that it prints, as rules of `loadcurve audit` do.
// Limits and words are those of the rules; a rule that needs more than the report is left to that command.
const benchmark = (() => {
  const SECONDS = { us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };
  const BYTES = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };
  const NUMBER = "([0-9]+(?:\\.[0-9]+)?)";
  const TIME = `${NUMBER}(us|ms|s|m|h)`, SIZE = `${NUMBER}(B|KB|MB|GB|TB)`;
  const MOST = 1e6; // responses that hey lists
  const WRK = /^Running \S+ test @ |^Making [0-9]+ requests to /, AB = /^This is ApacheBench/, HEY = /^Summary:\s*$/;
  const LIKE_WRK = /^Running .*\n+[0-9]+ (?:connections|goroutine)/m, LIKE_HEY = /^(?:Success rate|Count):/m; // autocannon, go-wrk; oha, ghz
  const RATED = /\bwrk2 +-|\bwrk\b.* (?:-R|--rate)[ =]?[0-9]/; // an echoed command
  const RATE = /\bwrk2?\b.* (?:-R|--rate)[ =]?([0-9.]+)([kM]?)\b/;

  const find = (text, pattern) => text.match(new RegExp(pattern, "m"))?.slice(1) ?? [];
  const number = (text, pattern) => { const [found] = find(text, pattern); return found && Number(found); };
  const count = (text, pattern) => number(text, pattern) ?? 0;

  // A line without what terminals, mail, Markdown and people put around it; 1,234 is 1234, and full-width 1： is 1:
  const plain = (line) => line.slice(0, 4096)
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]|[\r\u200b\ufeff]/g, "")
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/\s/g, " ").replace(/^(?:[ >*`]|\^C)+/, "").replace(/[ *`]+$/, "")
    .replace(/(^|[ :(])([1-9][0-9]{0,2}(?:,[0-9]{3})+)(?![0-9,])/g, (_, before, grouped) => before + grouped.replace(/,/g, ""));

  // The report of a text: its numbers in s, bytes and requests, and by how much each may be off as it is printed.
  function read(text) {
    const lines = text.split("\n").map(plain), joined = lines.join("\n");
    const starts = lines.filter((line) => WRK.test(line) || AB.test(line) || HEY.test(line));
    const totals = lines.filter((line) => / requests in \S+, \S+ read$|^Complete requests:/.test(line));
    const reports = Math.max(starts.length, totals.length);
    const notHey = LIKE_HEY.test(joined) || !/^Requests\/sec:/m.test(joined);
    if (!starts.length || LIKE_WRK.test(joined) || (HEY.test(starts[0]) && notHey)) {
      throw new Error("This is no report of wrk, wrk2, ab or hey: its first line is missing, or it is of another tool.");
    }
    if (reports > 1) throw new Error(`The text has ${reports} reports: paste one.`);
    const run = (WRK.test(starts[0]) ? readWrk : AB.test(starts[0]) ? readAb : readHey)(joined);
    if (run.requests === undefined) {
      throw new Error(`The report of ${run.tool} has no number of requests: did the run fail, or was it cut off?`);
    }
    return run;
  }

  function readWrk(text) {
    const [threads, connections] = find(text, "^([0-9]+) threads? and ([0-9]+) connections?").map(Number);
    const seconds = (value, unit) => Number(value) * SECONDS[unit];
    const [mean, meanUnit, , , max, maxUnit] = find(text, `^ *Latency +${TIME} +${TIME} +${TIME}`);
    const [requests, took, tookUnit, size, sizeUnit] = find(text, `^(?:Overall )?([0-9]+) requests in ${TIME}, ${SIZE} read`);
    const [rate, rateUnit] = find(text, `^Transfer/sec: *${SIZE}`);
    const [connect, readErrors, write, timeout] = find(text, "^Socket errors: connect ([0-9]+), read ([0-9]+), write ([0-9]+), timeout ([0-9]+)").map(Number);
    const status = number(text, "^Non-2xx or 3xx responses: *([0-9]+)");
    if ((/^Socket errors:/m.test(text) && timeout === undefined) || (/^Non-2xx or 3xx/m.test(text) && status === undefined)) {
      throw new Error("The line with the errors of this report cannot be read: is a number below 0, or was it cut off?");
    }
    const tailThird = /Stdev +99%/.test(text), old = /^Making [0-9]+ requests/m.test(text);
    const tool = tailThird || /HdrHistogram|Thread calibration/.test(text) || RATED.test(text) ? "wrk2" : "wrk";
    const corrects = !tailThird && !old && !/^wrk (?:[a-z]+\/)?[1-3]\.\S+ \[/m.test(text); // since wrk 4
    // Without two decimals, a number at the end of the text may be cut.
    const throughput = number(text, "^Requests/sec: *([0-9]+\\.[0-9]{2}|[0-9]+(?:\\.[0-9]+)?(?=\\n))(?![0-9.,])");
    const [, rateOf, thousands] = text.match(RATE) ?? [];
    const measured = mean !== undefined && Number(mean) > 0;
    const recorded = text.split("Uncorrected Latency")[0];
    const quantiles = measured ? [...recorded.matchAll(new RegExp(`^ *${NUMBER}% +${TIME} *$`, "gm"))]
      .map(([, share, value, unit]) => ({ quantile: Number(share) / 100, latency: seconds(value, unit), half: 0.005 * SECONDS[unit] }))
      .filter((each) => each.latency > 0) : [];
    return {
      tool, threads, connections, corrected: corrects, holdsRate: tool === "wrk2", old, counted: throughput !== undefined,
      latency: measured ? seconds(mean, meanUnit) : undefined, latencyHalf: measured ? 0.005 * SECONDS[meanUnit] : 0,
      max: measured && !tailThird && max ? seconds(max, maxUnit) : undefined, maxHalf: max ? 0.005 * SECONDS[maxUnit] : 0,
      requests: requests && Number(requests), duration: took && seconds(took, tookUnit), durationHalf: took ? 0.005 * SECONDS[tookUnit] : 0,
      bytes: size && Number(size) * BYTES[sizeUnit], bytesHalf: size ? 0.005 * BYTES[sizeUnit] : 0,
      byteRate: rate && Number(rate) * BYTES[rateUnit], byteRateHalf: rate ? 0.005 * BYTES[rateUnit] : 0,
      throughput, throughputHalf: 0.005, quantiles, asked: number(text, "^Running ([0-9]+)s test"), // m and h are rounded
      rate: rateOf && Number(rateOf) * { "": 1, k: 1e3, M: 1e6 }[thousands],
      errors: { connect: connect ?? 0, read: readErrors ?? 0, write: write ?? 0, timeout: timeout ?? 0, status: status ?? 0 },
    };
  }

  function readAb(text) {
    const value = (name) => number(text, `^${name}: *${NUMBER}(?=\\s)`); // a number at the end of the text may be cut
    const [, total, , max] = find(text, "^Total: +([0-9]+) +([0-9]+) +([0-9.]+) +[0-9]+ +([0-9]+)").map(Number);
    const connections = value("Concurrency Level"), period = value("Time per request");
    // The measured mean has whole milliseconds; the library takes N / X below 10 ms where the two agree.
    const derived = period > 0 && total < 10 && (total === 0 || Math.abs(period - total) <= 0.5005);
    const latency = total === undefined ? undefined : (derived ? period : total) / 1e3;
    const failures = (name) => count(text, `^\\( ?Connect: .*${name}: ([0-9]+)`); // Receive came with ab 2.3
    const requests = value("Complete requests"), throughput = value("Requests per second"), failed = value("Failed requests");
    const bytes = value("Total transferred"), rate = value("Transfer rate");
    const printed = find(text, "^Time taken for tests: *([0-9]+)\\.([0-9]+)(?=\\s)");
    const readings = [Number(printed.join(".")), Number(printed[0]) + Number(printed[1]) / 1e6]; // ab 2.0: 2.34689 is 2.034689 s
    const [off, offMicros] = readings.map((seconds) => Math.abs(seconds * throughput - requests));
    const reading = /^This is ApacheBench, Version 2\.0/m.test(text) && offMicros < off ? readings[1] : readings[0];
    const duration = printed.length ? reading || (throughput > 0 ? requests / throughput : undefined) : undefined;
    const unit = [1024, 1000].sort((a, b) => Math.abs((rate * a * duration) / bytes - 1) - Math.abs((rate * b * duration) / bytes - 1))[0];
    return {
      tool: "ab", connections, latency, derived, latencyHalf: derived ? 0 : 0.0005, max: max / 1e3, maxHalf: 0.0005,
      requests, duration, durationHalf: 0.0005, bytes, bytesHalf: 0,
      byteRate: rate && rate * unit, byteRateHalf: rate ? 0.005 * unit : 0, throughput, throughputHalf: 0.005,
      quantiles: [...text.matchAll(/^([0-9]+)% +([0-9]+)/gm)].map(([, share, ms]) => ({ quantile: share / 100, latency: ms / 1e3, half: 0.0005 })),
      failed, counted: failed !== undefined,
      errors: {
        connect: count(text, "^\\( ?Connect: ([0-9]+)"), read: failures("Receive"), length: failures("Length"), exception: failures("Exceptions"),
        write: count(text, "^(?:Write|Broken pipe) errors: *([0-9]+)"), status: count(text, "^Non-2xx responses: *([0-9]+)"),
        other: text.match(/^(?:SSL (?:handshake|read|write) failed|Send request (?:timed out|failed)!)/gm)?.length ?? 0,
      },
    };
  }

  function readHey(text) {
    const value = (name) => number(text, `^${name}: *${NUMBER}(?=\\s)`);
    const codes = [...text.matchAll(/^ *\[([0-9]{3})\]\s+([0-9]+) responses?/gm)].map(([, code, times]) => [Number(code), Number(times)]);
    const total = (rows) => rows.reduce((sum, row) => sum + row[1], 0);
    const errors = (text.split("Error distribution:")[1] ?? "").split("\n").map((line) => line.match(/^ *\[([0-9]+)\]\s+(.*)/)).filter(Boolean)
      .map(([, times, words]) => [words, Number(times)]);
    const command = find(text, "(?:^|[ /$#])(hey +(?=-|https?:)[^|<>\\n]*https?:\\S+)")[0];
    const requests = total(codes), beside = total(errors), late = errors.filter(([words]) => /time-?d? ?out|deadline|ETIMEDOUT/i.test(words));
    const duration = value("Total"), rate = value("Requests/sec"), all = rate * duration; // of all requests; boom: of the responses
    if (requests + beside < (rate - 6e-5) * (duration - 6e-5)) {
      const why = requests === MOST ? "hey lists no more, so they cannot be checked." : "was it cut off?";
      throw new Error(`The report lists ${digits(requests + beside)} of ${digits(all)} requests: ${why}`);
    }
    const throughput = Math.abs(all - requests) < Math.abs(all - requests - beside) ? rate : (rate * requests) / (requests + beside);
    return {
      tool: "hey", connections: command && (number(command, " -c[ =] *([0-9]+)") ?? 50), holdsRate: command && / -q[ =]/.test(command), counted: true,
      latency: requests > MOST ? undefined : value("Average"), latencyHalf: 0.00005, // it divides by no more than it lists
      max: value("Slowest"), maxHalf: 0.00005, requests: codes.length || errors.length ? requests : undefined,
      duration, durationHalf: 0.00005, throughput, throughputHalf: 0.00005, bytesHalf: 0, byteRateHalf: 0,
      quantiles: [...text.matchAll(/^ *([0-9]+)%+ in ([0-9.]+) secs/gm)].map(([, share, s]) => ({ quantile: share / 100, latency: Number(s), half: 0.00005 })),
      errors: { beside, timeout: total(late), status: total(codes.filter(([code]) => code >= 400)) },
    };
  }

  const severity = (value, warning, error) => (value > error ? "error" : value > warning ? "warning" : "ok");
  const digits = (value, places = 4) => (value >= 1e4 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(places))));
  const time = (s) => (s < 1e-3 ? `${digits(s * 1e6)} µs` : s < 1 ? `${digits(s * 1e3)} ms` : `${digits(s)} s`);
  const percent = (ratio) => `${digits(100 * ratio, 3)} %`;

  // Each check: the rule, ok, warning, error or unchecked, and a sentence with its numbers.
  function check(run, linkBits) {
    return [opened(run), inFlight(run), rate(run), early(run), failures(run), timeouts(run), agreement(run), bytesEach(run), wire(run, linkBits), fewResponses(run), length(run)].filter(Boolean);
  }

  function opened({ tool, connections, errors: e }) {
    if (!tool.startsWith("wrk") || !connections) return undefined;
    const text = e.connect > connections ? `${digits(e.connect)} attempts to open ${digits(connections)} connections failed.`
      : `${digits(e.connect)} of ${digits(connections)} connections failed to open.`;
    return { rule: "connections-opened", verdict: severity(e.connect / connections, 0.01, 0.1), text };
  }

  function rate({ tool, connections, latency, throughput, corrected, duration, rate: asked }) {
    if (tool !== "wrk2") return undefined;
    const found = (verdict, text) => ({ rule: "target-rate", verdict, text });
    const there = (throughput ?? 0) * (latency ?? 0), queue = corrected && there > 2 * connections;
    const came = asked && throughput && duration >= 1 ? `${digits(throughput)} of ${digits(asked)} requests/s came.` : "";
    if (queue) return found("error", `${came} ${digits(there, 3)} requests were under way on ${connections} connections: they waited for their turn.`.trim());
    if (!came) return found("unchecked", "wrk2 does not print the rate that it was asked for: paste its command too.");
    return found(severity(1 - throughput / asked, 0.02, 0.1), came);
  }

  function early({ asked, duration }) {
    if (!asked || !duration) return undefined;
    return { rule: "early-end", verdict: severity(1 - duration / asked, 0.05, 0.5), text: `The load was sent for ${time(duration)} of ${time(asked)}.` };
  }

  function inFlight({ tool, connections, latency, throughput, latencyHalf, derived, corrected, holdsRate, threads, errors: e }) {
    const found = (verdict, text) => ({ rule: "effective-concurrency", verdict, text });
    if (derived) return found("unchecked", "The mean of this report is so short that ab's whole milliseconds hide it, and “Time per request” is N / X: it cannot check N.");
    if (!connections) return found("unchecked", "The text does not say how many connections there were: fill them in.");
    if (!latency || !throughput) return found("unchecked", "The mean response time or the throughput is missing or 0.");
    const there = throughput * latency, ratio = there / connections, half = (latencyHalf * throughput) / connections;
    const text = `${digits(throughput)} requests/s × ${time(latency)} = ${digits(there, 3)} requests in flight, on ${connections} connection${connections === 1 ? "" : "s"}.`;
    if (ratio - half <= 1.1 && ratio + half >= 0.9) return found("ok", text);
    const opened = threads ? Math.floor(connections / threads) * threads : connections, fewer = opened < 0.9 * connections;
    const never = tool.startsWith("wrk") && e.connect <= connections ? e.connect : 0;
    if (tool === "hey" && holdsRate === undefined && ratio < 0.9) return found("unchecked", `${text} With -q, which hey does not print, connections are idle on purpose: paste its command too.`);
    if (holdsRate && ratio < 0.9 && !fewer && never <= 0.1 * connections) return found("ok", `${text} ${tool} holds a rate, so connections are idle on purpose.`);
    if (holdsRate && corrected && ratio > 1.1) return found("ok", `${text} Response times count from when a request was due, before a connection was free.`);
    if (ratio > 1.1 && corrected) return found("warning", `${text} Unless a script pipelines requests, more than connections cannot be in `
      + `flight: wrk adds estimated times to its response times (coordinated omission). Then use N / X = ${time(connections / throughput)}.`);
    const why = ratio > 1 ? "More than one for each connection is impossible without pipelining: the mean and the throughput are of different requests or moments."
      : never > 0 ? `${digits(never)} connections failed to open. N / X of the others is ${time((connections - never) / throughput)}.`
      : fewer ? `${tool} opens only ${opened} of them on ${threads} threads.`
      : `The others waited where ${tool} does not measure, or their connections never opened. N / X = ${time(connections / throughput)} includes that wait.`;
    return found(holdsRate || (ratio >= 0.5 && ratio <= 2) ? "warning" : "error", `${text} ${why}`);
  }

  function failures({ tool, requests, connections, duration, bytes, failed, old, counted, errors: e }) {
    const found = (verdict, text) => ({ rule: "failed-requests", verdict, text });
    if (requests === 0) return found("error", "No response came.");
    if (!counted) return found("unchecked", "The text has only a part of the report, so failures may be missing.");
    let among = e.status, beside;
    if (tool === "ab") {
      among = Math.max(e.status + e.read + e.write + e.other, failed - e.length - Math.min(e.exception, e.read));
      beside = e.connect;
      if (bytes === 0) among = requests;
    } else if (tool === "hey") beside = e.beside;
    else {
      const polled = tool === "wrk2" || old || e.timeout > requests; // it counts each look at a waiting connection, every 2 s
      beside = (e.connect > connections ? e.connect : 0) + e.read + e.write + (polled ? e.timeout / Math.max(duration / 2, 1) : 0);
      if (!polled) among += e.timeout;
    }
    const sent = requests + beside, bad = Math.min(among, requests) + beside, share = bad / sent;
    let verdict = severity(share, 0.01, 0.1);
    if (verdict === "ok" && e.length / sent > 0.01) return found("warning", `${percent(e.length / sent)} of the responses had another length than the first. If the page varies, use ab -l.`);
    const text = bad === 0 ? "No request failed." : `${percent(share)} of ${digits(sent)} requests failed.`;
    return found(verdict, verdict === "ok" ? text : `${text} ${e.status ? "An error page is often quicker than the page: report" : "Report"} the rate of good responses.`);
  }

  function timeouts({ tool, requests, counted, errors: e, quantiles }) {
    if (e.timeout === undefined || !counted) return undefined;
    const found = (verdict, text) => ({ rule: "timeouts", verdict, text });
    const share = requests ? Math.min(e.timeout / requests, 1) : Number(e.timeout > 0);
    const highest = Math.max(0, ...quantiles.map((each) => each.quantile).filter((quantile) => quantile < 1));
    const text = `${digits(e.timeout)} timeouts beside ${digits(requests)} responses.`;
    if (tool === "wrk" && highest && share > Math.max(1 - highest, 0.001)) return found("error", `${text} The printed p${digits(100 * highest)} leaves them out, so it is too low.`);
    return found(severity(share, 0.001, 0.05), text);
  }

  function agreement(run) {
    const { requests, duration, throughput, bytes, byteRate, connections, latency, derived, max, quantiles } = run;
    const found = (verdict, text) => ({ rule: "contradicting-numbers", verdict, text });
    const pairs = [];
    if (duration && throughput) pairs.push(["requests / duration", requests / duration, throughput, requests ? 1 / requests : 0, "requests/s"]);
    if (duration && byteRate && bytes !== undefined) pairs.push(["bytes / duration", bytes / duration, byteRate, 0, "bytes/s"]);
    if (derived && throughput) pairs.push(["connections / throughput", connections / throughput, latency, 0, "s for each request"]);
    const highest = quantiles.reduce((most, each) => (each.latency > most.latency ? each : most), { latency: 0 });
    if (max > 0 && highest.latency > max + 2 * run.maxHalf) pairs.push(["the longest response time", max, highest.latency, 0, "s of the highest percentile"]);
    if (!pairs.length) return undefined;
    const part = (name) => (run[name] > 0 ? run[`${name}Half`] / run[name] : 0);
    const rounded = ["duration", "throughput", "bytes", "byteRate"].reduce((sum, name) => sum + part(name), 0);
    const apart = (implied, stated) => (implied === stated ? 0 : Math.abs(implied / stated - 1));
    const off = pairs.map(([words, implied, stated, more, unit]) => [apart(implied, stated) - rounded - more, words, implied, stated, unit]);
    const [beyond, words, implied, stated, unit] = off.reduce((worst, each) => (each[0] > worst[0] ? each : worst));
    const verdict = severity(beyond, 0.02, 0.1);
    return found(verdict, verdict === "ok" ? `Requests, duration${max && quantiles.length ? ", rates and percentiles" : " and rates"} agree with each other.`
      : `${words} = ${digits(implied)}, but the report says ${digits(stated)} ${unit}. One of the two is of another run or moment, or was changed.`);
  }

  function bytesEach({ requests, bytes }) {
    if (!requests || bytes === undefined) return undefined;
    const each = bytes / requests;
    return { rule: "empty-replies", verdict: each >= 9 ? "ok" : "error", text: each >= 9 ? `${digits(each)} bytes for each response, with its header.`
      : `${digits(each)} bytes for each response: the tool counts closed connections as responses.` };
  }

  function wire({ requests, bytes, throughput }, linkBits) {
    if (!linkBits) return undefined;
    if (!requests || !bytes || !throughput) {
      return { rule: "throughput-above-link", verdict: "unchecked", text: "The report does not print the bytes received, so the link cannot be checked." };
    }
    const payload = bytes / requests, medium = payload + 90 * Math.max(payload / 1448, 1); // 66 of headers, 24 of the medium
    const used = (8 * throughput * medium) / linkBits;
    const text = `${digits(throughput)} requests/s × ${digits(medium)} bytes on the medium are ${percent(used)} of ${digits(linkBits / 1e9)} Gbit/s.`;
    const why = { ok: "", warning: " The link limits the throughput, not the server.", error: " No link carries that: loopback, another link, or numbers of a burst." };
    const verdict = severity(used, 0.9, 1.01);
    return { rule: "throughput-above-link", verdict, text: text + why[verdict] };
  }

  function fewResponses({ tool, requests, quantiles }) {
    const named = quantiles.map((each) => each.quantile).filter((quantile) => quantile > 0 && 1 - quantile > 1e-12);
    const how = tool.startsWith("wrk") && requests ? `: run ${tool} with --latency` : "";
    if (!named.length || !requests) return { rule: "few-responses", verdict: "unchecked", text: `There is no percentile of measured times${how}.` };
    const last = Math.max(...named), judged = named.filter((quantile) => quantile <= 0.99 + 1e-12 || (quantile === last && quantile <= 0.999 + 1e-12));
    const needed = (quantile) => Math.ceil(Math.log(0.025) / Math.log(quantile));
    const lacking = judged.filter((quantile) => needed(quantile) > requests), highest = Math.max(...judged, 0);
    return { rule: "few-responses", verdict: lacking.length ? "warning" : "ok", text: lacking.length
      ? `${lacking.map((quantile) => `p${digits(100 * quantile)}`).join(", ")} of ${digits(requests)} responses: an interval needs ${digits(needed(Math.max(...lacking)))}.`
      : `p${digits(100 * highest)} rests on ${tool === "wrk2" ? "at most " : ""}${digits(requests)} responses; its interval needs ${digits(needed(highest))}.` };
  }

  function length({ duration }) {
    if (!duration) return undefined;
    return { rule: "short-load", verdict: duration < 3 ? "warning" : "ok", text: `The load lasted ${time(duration)}.${duration < 10 ? " Measure for 10 s or longer." : ""}` };
  }

  const verdict = (checks) => ["error", "warning", "ok"].find((each) => checks.some((one) => one.verdict === each)) ?? "unchecked";
  return { read, check, verdict };
})();
if (typeof module !== "undefined") module.exports = benchmark;
