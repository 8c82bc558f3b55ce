"""The forms of load generators."""

from loadcurve.ingest.ending import JSON, Ending
from loadcurve.ingest.form import Form

# wrk2 prints the headings of wrk: what follows them tells the two apart, so one function reads both.
_WRK = (
    r"Running \S+ test @",
    r"Making [0-9]+ requests to ",
    r"[0-9]+\s+threads and\s+[0-9]+\s+connections\s*$",
    r"Thread (?:Stats\s+Avg\s+Stdev\s|calibration: mean lat)",
    r"Test Results @ ",
    r"Latency Distribution(?: \(HdrHistogram - .*)?$",
    r"Usage: wrk ",
    r"invalid URL: ",
    r"number of connections must be >= threads",
    r"Throughput MUST be specified",
    r"unable to (?:connect to|resolve) \S+:\S+ [A-Za-z]",
    r"unable to create thread [0-9]",
    r"(?:[\w./-]+: )?(?:line )?(?:[0-9]+: )?(?:[\w./-]*/)?wrk2?: (?:command )?not found",
    r"zsh: command not found: wrk",
    r"PANIC: unprotected error in call to Lua API",
    r"(?<![\s\S])Killed by signal [0-9]+\.\s*\Z",
)

_WRK_ENDING = Ending(
    r"Transfer/sec:[ \t]+[0-9.]+[KMGTP]?B",
    section=r"Transfer/sec:",
    after=r"[0-9]+ requests in ",
    name="'Transfer/sec:'",
)

_HEY_ENDING = Ending(
    r"\[\w+\][ \t]+[0-9]+ responses",
    section=r"(?:Status code|Error) distribution:",
    after=r"Summary:",
    name="'Status code distribution:'",
)

FORMS = (
    Form("wrk", "", "load.wrk:parse_wrk", _WRK, ending=_WRK_ENDING),
    Form("wrk2", "", "load.wrk:parse_wrk2", _WRK, ending=_WRK_ENDING),
    Form(
        "wrk", "json", "load.wrk_json:parse_wrk_json",
        (
            r'\A(?:[^{\n]*\n){0,20}\s*\{\s*"wrk_reporter"\s*:',
        ),
        ending=JSON,
    ),
    Form(
        "ab", "", "load.ab:parse_ab",
        (
            r"This is ApacheBench, Version ",
            r"Benchmarking \S.*\(be patient\)",
            r"Server Software:",
            r"(?:<tr [^<>\n]*><th [^<>\n]*>)Server Software:",
            r"Requests per second:[ \t]+[0-9.]+ \[#/sec\]",
            r"apr_\w+(?:\(\))?(?: \w[^:\n]*)?: .*\([0-9]+\)[ \t]*$",
            r"socket: .*\([0-9]+\)[ \t]*$",
            r"Total of [0-9]+ requests completed",
            r"Completed [0-9]+ requests[ \t]*$",
            r"Finished [0-9]+ requests[ \t]*$",
            r"Test aborted after 10 failures",
            r"Usage: \S{0,200}\babs?(?:\.exe)? \[options\]",
            r"(?:\S{0,200}/)?abs?(?:\.exe)?: (?:Cannot|could not|[iI]nvalid |wrong |option |illegal )",
            r"\S{1,80}: command not found: abs?$",
            r"\S{1,80}: (?:line [0-9]+: )?abs?: (?:command )?not found",
            r"'abs?' is not recognized ",
        ),
        ending=Ending(
            r"100%[ \t]+[0-9]+ \((?:longest|last) request\)|</table>",
            section=r"[0-9]{1,3}%[ \t]|</table>",
            after=r"Time taken for tests:|<table",
            name="the percentiles (ab prints none with -d, or of one request)",
        ),
    ),
    Form(
        "ab", "percentiles", "load.ab_percentiles:parse_ab_percentiles",
        (
            r"Percentage served ?, ?Time in ms[ \t]*$",
        ),
        commas=True,
        ending=Ending(r"(?:99|100),[0-9]+\.[0-9]{3}"),
    ),
    Form(
        "ab", "requests", "load.ab_requests:parse_ab_requests",
        (
            r"starttime[ \t]+seconds[ \t]+ctime[ \t]+dtime[ \t]+ttime",
        ),
        commas=True,
        large=True,
    ),
    Form(
        "h2load", "", "load.h2load:parse_h2load",
        (
            r"spawning thread #[0-9]+: [0-9]+ (?:total client\(s\)|concurrent clients)",
            r"finished in [0-9.]+[mu]?s, \S+ req/s",
            r"finished in [0-9]+ [^\n]{1,60} req/s, \S+B/s",
            r"Usage: h2load ",
            r"(?:[\w./-]{1,40}: ){1,3}h2load: (?:command )?not found",
        ),
        ending=Ending(
            r"req/s[ \t]+:.*%",
            section=r"(?:req/s|TTFB)[ \t]+:",
            after=r"finished in ",
            name="the rates of the clients",
        ),
    ),
    Form(
        "h2load", "requests", "load.h2load:parse_h2load_log",
        (
            r"\A\s*[0-9]{16}\t-?[0-9]{1,3}\t[0-9]{1,12}[ \t]*\n",
        ),
        commas=True,
    ),
    Form(
        "hey", "", "load.hey:parse_hey",
        (
            r"Summary:?[ \t]*\n\s*Total:",
            r"(?:Response time histogram|Latency distribution|Status code distribution):[ \t]*$",
            r"Details \(average, fastest, slowest\)",
            r"Error distribution:[ \t]*$",
            r"Usage: hey ",
            r"(?:[\w./-]{1,40}: ){1,3}hey: (?:command )?not found",
        ),
        ending=_HEY_ENDING,
    ),
    Form(
        "oha", "", "load.hey:parse_hey",
        (
            r"Summary:[ \t]*\n\s*Success rate:",
            r"Response time distribution:[ \t]*$",
        ),
        ending=_HEY_ENDING,
    ),
    Form(
        "ghz", "", "load.hey:parse_hey",
        (
            r"Summary:[ \t]*\n\s*(?:Name:[^\n]*\n\s*)?Count:",
        ),
        ending=_HEY_ENDING,
    ),
    Form(
        "hey", "requests", "load.hey:parse_hey_csv",
        (
            r"response-time,DNS\+dialup,DNS,",
        ),
        commas=True,
        ending=Ending(r".*,[0-9]+\.[0-9]{4}"),
    ),
    Form(
        "oha", "requests", "load.oha:parse_oha_csv",
        (
            r"request-start,DNS,DNS\+dialup,",
        ),
        commas=True,
    ),
    Form(
        "oha", "json", "load.oha:parse_oha_json",
        (
            r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"(?:latencyPercentiles|responseTimeHistogram)"\s*:)',
        ),
        ending=JSON,
    ),
    Form(
        "vegeta", "", "load.vegeta:parse_vegeta",
        (
            r"Requests\s+\[total",
            r"Duration\s+\[total, attack",
            r"Latencies\s+\[m",
            r"Bucket\s+#\s+%\s+Histogram",
            r"Value\(ms\)\s+Percentile\s+TotalCount",
            r"Usage: vegeta ",
            r"(?:[\w./-]{1,40}: ){1,3}vegeta: (?:command )?not found",
        ),
        ending=Ending(
            r"\[.*%(?:[ \t]+#+)?|[0-9.]+[ \t]+[01]\.[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9]{6}",
            section=r"Error Set:", after=r"Requests\s+\[total", name="'Error Set:'"),
    ),
    Form(
        "vegeta", "json", "load.vegeta_json:parse_vegeta_json",
        (
            r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"latencies"\s*:\s*\{)',
        ),
        ending=JSON,
    ),
    Form(
        "vegeta", "requests-json", "load.vegeta_requests:parse_vegeta_jsonl",
        (
            r'\A\s*\{(?=[^\n]{0,4000}?"timestamp"\s*:)(?=[^\n]{0,4000}?"latency"\s*:\s*[0-9])',
        ),
        commas=True,
        ending=JSON,
    ),
    Form(
        "vegeta", "requests", "load.vegeta_requests:parse_vegeta_csv",
        (
            r"\A\s*[0-9]{19},[0-9]{1,3},[0-9]{1,18},[0-9]{1,18},[0-9]{1,18},",
        ),
        commas=True,
    ),
    Form(
        "k6", "", "load.k6:parse_k6",
        (
            r"(?:[✓✗][ \t]{1,9})?(?:http_req(?:s|_[a-z_]+)|data_received|data_sent)\.{2,120}:",
            r"█ TOTAL RESULTS",
            r"execution: (?:local|cloud)[ \t]*$",
            r"(?:[\w./-]{1,40}: ){1,3}k6: (?:command )?not found",
        ),
    ),
    Form(
        "k6", "json", "load.k6_json:parse_k6_json",
        (
            r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,20000}?"(?:http_reqs"|http_req_|root_group"'
            r'|testRunDurationMs"))',
        ),
        ending=JSON,
    ),
    Form(
        "fortio", "", "load.fortio:parse_fortio",
        (
            r"Fortio \S+ running at ",
            r"Ended after \S+ : [0-9]+ calls\.",
            r"Aggregated Function Time : count ",
        ),
        ending=Ending(r"All done .* qps", section=r"All done ", after=r"Sockets used:", name="'All done'"),
    ),
    Form(
        "fortio", "json", "load.fortio_json:parse_fortio_json",
        (
            r'\A(?:[^{\n]*\n){0,20}\s*(?:\[\s*)?\{(?=[\s\S]{0,20000}?"DurationHistogram"\s*:)',
        ),
        ending=JSON,
    ),
    Form(
        "siege", "", "load.siege:parse_siege",
        (
            r"Transactions:\s+[0-9]+(?:\s+hits)?",
            r'(?:\{\s*)?"transactions":\s',
            r"\*\* SIEGE [0-9]",
            r"(?:[\w./-]{1,40}: ){1,3}siege: (?:command )?not found",
        ),
        ending=Ending(
            r"Shortest transaction:[ \t]+[0-9]+[.,][0-9]{2}|\}",
            section=r"Shortest transaction:|\}",
            after=r"Transaction rate:|\"transaction_rate\"",
            name="'Shortest transaction'",
        ),
    ),
    Form(
        "httperf", "", "load.httperf:parse_httperf",
        (
            r"httperf --",
            r"httperf: ",
            r"Total: connections [0-9]+ requests [0-9]+ replies ",
            r"Usage: httperf ",
            r"(?:[\w./-]{1,40}: ){1,3}httperf: (?:command )?not found",
        ),
        ending=Ending(section=r"Errors: fd-unavail", after=r"Total: connections ", name="'Errors: fd-unavail'"),
    ),
    Form(
        "weighttp", "", "load.weighttp:parse_weighttp",
        (
            r"weighttp(?: \S+)? - a? ?(?:lightweight|simple)",
            r"weighttp <options> ",
            r"spawning thread #[0-9]+: [0-9]+ concurrent requests",
            r"finished in [0-9]+ sec,",
            r'\{\s*\"reqs_per_sec\"',
            r"error: (?:socket|connect|read|write)\(\) failed: ",
            r"error: (?:insane arguments|concur_count|thread_count|num of |could not resolve hostname"
            r"|no ssl support)",
        ),
        ending=Ending(
            r"traffic: .*bytes data|\}", section=r"traffic: ", after=r"requests: [0-9]", name="'traffic:'"
        ),
    ),
)  # fmt: skip
