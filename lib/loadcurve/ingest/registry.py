"""Every form of output that can be read, in the order in which their signatures are tried.

The first of the forms whose signatures match at one place reads what follows.  To add a form: a module with a
``parse_*`` function, its line here, and a fixture.
"""

from functools import cache

from loadcurve.ingest.form import JSON, TWO_DECIMALS, Ending, Form

_WRK_SIGNATURE = (
    r"Running \S+ test @",
    r"Making [0-9]+ requests to ",
    r"[0-9]+\s+threads and\s+[0-9]+\s+connections\s*$",
    r"Thread (?:Stats\s+Avg\s+Stdev\s|calibration: mean lat)",
    r"Test Results @ ",
    # bombardier prints the same heading, and then also 95%.
    r"Latency Distribution(?: \(HdrHistogram - .*)?$(?!(?:\n[ \t]*(?:50|75|90)%[^\n]*){3}\n[ \t]*95%)",
    r"Detailed Percentile spectrum:[ \t]*$",
    r"Value[ \t]+Percentile[ \t]+TotalCount[ \t]+1/\(1-Percentile\)",
    r"Usage: wrk ",
    r"invalid URL: ",
    r"number of connections must be >= threads",
    r"Throughput MUST be specified",
    r"unable to (?:connect to|resolve) \S+:\S+ [A-Za-z]",
    r"unable to create thread [0-9]",
    r"(?:[\w./-]+: )?(?:line )?(?:[0-9]+: )?(?:[\w./-]*/)?wrk2?: (?:command )?not found",
    r"zsh: command not found: wrk",
    r"PANIC: unprotected error in call to Lua API",
    r"(?<![\s\S]{2})Killed by signal [0-9]+\.\s*\Z",  # alone in a text: behind the newline of `form_starts`
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
_OF_REQUESTS = ("runs", "latency", "labels")  # tables of totals over single requests

# fmt: off
FORMS: tuple[Form, ...] = (
    # Load generators
    Form("ab", "", "load.ab:parse_ab", (
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
    ), ending=Ending(
        r"100%[ \t]+[0-9]+ \((?:longest|last) request\)|</table>",
        section=r"[0-9]{1,3}%[ \t]|</table>",
        after=r"Time taken for tests:|<table",
        name="the percentiles (ab prints none with -d, or of one request)",
    )),
    Form("ab", "percentiles", "load.ab_requests:parse_ab_percentiles", (
        r"Percentage served ?, ?Time in ms[ \t]*$",
    ), commas=True, ending=Ending(r"(?:99|100),[0-9]+\.[0-9]{3}")),
    Form("ab", "requests", "load.ab_requests:parse_ab_requests", (
        r"starttime[ \t]+seconds[ \t]+ctime[ \t]+dtime[ \t]+ttime",
    ), commas=True, large=True),
    Form("autocannon", "", "load.autocannon:parse_autocannon", (
        r"Running (?:[0-9]+s|[0-9]+ requests) test @ [^\n]*\n[0-9]+ connections?(?: with [^\n]*)?\n",
        r"[│|] Stat[ ]+[│|] (?:2\.5%|1%)",
        r"[0-9]+k? requests in [0-9.]+s, [0-9.]+ [kMGTP]?B read",
    )),
    Form("autocannon", "json", "load.autocannon:parse_autocannon_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"(?:non2xx|mismatches)"\s*:)(?=[\s\S]{0,8000}?"p97_5"\s*:)',
    ), ending=JSON),
    Form("bombardier", "", "load.bombardier:parse_bombardier", (
        r"Bombarding \S+ (?:for|with) [^\n]* using [0-9]+ connection\(s\)",
        r"Statistics[ ]+Avg[ ]+Stdev[ ]+Max[ \t]*$",
    )),
    Form("bombardier", "json", "load.bombardier:parse_bombardier_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{\s*"spec"\s*:\s*\{(?=[\s\S]{0,20000}?"req1xx"\s*:)',
    ), ending=JSON),
    Form("fortio", "", "load.fortio:parse_fortio", (
        r"Fortio \S+ running at ",
        r"Ended after \S+ : [0-9]+ calls\.",
        r"Aggregated Function Time : count ",
    ), ending=Ending(r"All done .* qps", section=r"All done ", after=r"Sockets used:", name="'All done'")),
    Form("fortio", "json", "load.fortio:parse_fortio_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*(?:\[\s*)?\{(?=[\s\S]{0,20000}?"DurationHistogram"\s*:)',
    ), ending=JSON),
    Form("gatling", "", "load.gatling:parse_gatling", (
        r"-{4} Global Information -{5,}",
        r"[^\n]{0,200}No Simulation to run",
    ), ending=Ending(
        r"={20,}|Please open the following file: .*",
        section=r"={20,}|Please open",
        after=r"-{4} Global Inf",
        name="the rule ====",
    )),
    Form("gatling", "stats", "load.gatling:parse_gatling_stats", (
        r'\A\s*\{(?=[\s\S]{0,2000}?"numberOfRequests"\s*:\s*\{)(?=[\s\S]{0,2000}?"minResponseTime")',
    ), ending=JSON),
    Form("gatling", "log", "load.gatling_log:parse_gatling_log", (
        r"\A\s*(?:(?:ASSERTION|RUN|USER|REQUEST)\t|[^\t\n]{1,200}\t[^\t\n]{1,200}\t(?:RUN|REQUEST)\t)[^\n]*\n",
        r"\A\x00{4}[\x00-\x0c][0-9]{1,2}\.[0-9]",
        r"\A\x00{5}[\x01-\x0c][0-9]{1,2}\.[0-9]",
    ), commas=True, large=True, totals=_OF_REQUESTS),
    Form("h2load", "", "load.h2load:parse_h2load", (
        r"spawning thread #[0-9]+: [0-9]+ (?:total client\(s\)|concurrent clients)",
        r"finished in [0-9.]+[mu]?s, \S+ req/s",
        r"finished in [0-9]+ [^\n]{1,60} req/s, \S+B/s",
        r"Usage: h2load ",
        r"(?:[\w./-]{1,40}: ){1,3}h2load: (?:command )?not found",
    ), ending=Ending(
        r"req/s[ \t]+:.*%",
        section=r"(?:req/s|TTFB)[ \t]+:",
        after=r"finished in ",
        name="the rates of the clients",
    )),
    Form("h2load", "requests", "load.h2load:parse_h2load_log", (
        r"\A\s*[0-9]{16}\t-?[0-9]{1,3}\t[0-9]{1,12}[ \t]*\n",
    ), commas=True),
    Form("hey", "", "load.hey:parse_hey", (
        r"Summary:?[ \t]*\n\s*Total:",
        r"(?:Response time histogram|Latency distribution|Status code distribution):[ \t]*$",
        r"Details \(average, fastest, slowest\)",
        r"Error distribution:[ \t]*$",
        r"Usage: hey ",
        r"(?:[\w./-]{1,40}: ){1,3}hey: (?:command )?not found",
    ), ending=_HEY_ENDING),
    Form("oha", "", "load.hey:parse_hey", (
        r"Summary:[ \t]*\n\s*Success rate:",
        r"Response time distribution:[ \t]*$",
    ), ending=_HEY_ENDING),
    Form("ghz", "", "load.hey:parse_hey", (r"Summary:[ \t]*\n\s*(?:Name:[^\n]*\n\s*)?Count:",), ending=_HEY_ENDING),
    Form("hey", "requests", "load.hey:parse_hey_csv", (
        r"response-time,DNS\+dialup,DNS,",
    ), commas=True, ending=Ending(r".*,[0-9]+\.[0-9]{4}")),
    Form("httperf", "", "load.httperf:parse_httperf", (
        r"httperf --",
        r"httperf: ",
        r"Total: connections [0-9]+ requests [0-9]+ replies ",
        r"Usage: httperf ",
        r"(?:[\w./-]{1,40}: ){1,3}httperf: (?:command )?not found",
    ), ending=Ending(section=r"Errors: fd-unavail", after=r"Total: connections ", name="'Errors: fd-unavail'")),
    Form("jmeter", "", "load.jmeter:parse_jmeter", (
        r"(?:[0-9/-]{8,10}[ T][0-9:,.]{8,12} INFO\s+-?\s*\S+: )?[\w<][\w <>.-]{0,59}[=+]"
        r"\s+[0-9]+ in\s+[0-9:.s]+ =\s+[0-9.]+/s Avg:",
        r"Creating summariser <",
        r"Error in NonGUIDriver ",
    ), totals=("runs",)),
    Form("jmeter", "statistics", "load.jmeter:parse_jmeter_statistics", (
        r'\A\s*\{(?=[\s\S]{0,2000}?"sampleCount")(?=[\s\S]{0,4000}?"pct1ResTime")',
    ), ending=JSON),
    Form("jmeter", "jtl", "load.jmeter_jtl:parse_jtl", (
        r"\A(?:[^,;\t|^\n]{0,200}\n){0,5}[ \t]*(?=[^\n]*\belapsed\b)\"?(?:elapsed|bytes"
        r"|sentBytes|allThreads|Latency|Connect|IdleTime|SampleCount|timeStamp"
        r"|label|responseCode|responseMessage|failureMessage|threadName|URL|success"
        r"|dataType|grpThreads|Filename|Encoding|ErrorCount|Hostname)\"?[,;\t|^:][^\n]*\n",
        r"\A\s*(?:[0-9]{13}|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,6})?"
        r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)[,;\t|^:][0-9]{1,12}[,;\t|^:][^\n]*[,;\t|^:](?:true|false)[,;\t|^:]",
    ), commas=True, large=True, totals=_OF_REQUESTS),
    Form("jmeter", "jtl-xml", "load.jmeter_jtl:parse_jtl_xml", (
        r"\A(?:[^<\n]{0,200}\n){0,5}\s*(?:<\?xml[^>]{0,200}\?>\s*)?<testResults",
    ), commas=True, ending=Ending(r"</testResults>"), totals=_OF_REQUESTS),
    Form("k6", "", "load.k6:parse_k6", (
        r"(?:[✓✗][ \t]{1,9})?(?:http_req(?:s|_[a-z_]+)|data_received|data_sent)\.{2,120}:",
        r"█ TOTAL RESULTS",
        r"execution: (?:local|cloud)[ \t]*$",
        r"(?:[\w./-]{1,40}: ){1,3}k6: (?:command )?not found",
    )),
    Form("k6", "json", "load.k6:parse_k6_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,20000}?"(?:http_reqs"|http_req_|root_group"'
        r'|testRunDurationMs"))',
    ), ending=JSON),
    Form("locust", "", "load.locust:parse_locust", (
        r"(?:Type\s+)?Name\s+# reqs\s+# fails",
        r"\[[0-9-]{10} [0-9:,]{8,12}\] [^\n]{1,80}/INFO/locust\.main: ",
    ), totals=_OF_REQUESTS, ending=Ending(
        section=r"Response time percentiles|Percentage of the requests completed within",
        after=r"(?:Type\s+)?Name\s+# reqs\s+# fails",
        name="the table of percentiles",
    )),
    Form("locust", "stats", "load.locust:parse_locust_stats", (
        r"\A\s*\"?(?:Type|Method)\"?,\"?Name\"?,\"?(?:Request Count|# requests)\"?,",
    ), commas=True, totals=("runs", "latency")),
    Form("locust", "distribution", "load.locust:parse_locust_distribution", (
        r"\A\s*\"?Name\"?,\"?# requests\"?,\"?50%",
    ), commas=True),
    Form("locust", "history", "load.locust:parse_locust_history", (
        r"\A\s*\"?(?:Timestamp\"?,\"?User Count|Name\"?,\"?Timestamp|Type\"?,\"?Name\"?,\"?Timestamp)\"?,",
    ), commas=True),
    Form("locust", "errors", "load.locust:parse_locust_failures", (
        r"\A\s*\"?Method\"?,\"?Name\"?,\"?Error\"?,\"?Occurrences",
        r"\A\s*\"?Count\"?,\"?Message\"?,\"?Traceback\"?",
    ), commas=True),
    Form("oha", "requests", "load.oha:parse_oha_csv", (r"request-start,DNS,DNS\+dialup,",), commas=True),
    Form("oha", "json", "load.oha:parse_oha_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"(?:latencyPercentiles|responseTimeHistogram)"\s*:)',
    ), ending=JSON),
    Form("siege", "", "load.siege:parse_siege", (
        r"Transactions:\s+[0-9]+(?:\s+hits)?",
        r'(?:\{\s*)?"transactions":\s',
        r"\*\* SIEGE [0-9]",
        r"(?:[\w./-]{1,40}: ){1,3}siege: (?:command )?not found",
    ), ending=Ending(
        r"Shortest transaction:[ \t]+[0-9]+[.,][0-9]{2}|\}",
        section=r"Shortest transaction:|\}",
        after=r"Transaction rate:|\"transaction_rate\"",
        name="'Shortest transaction'",
    )),
    Form("vegeta", "", "load.vegeta:parse_vegeta", (
        r"Requests\s+\[total",
        r"Duration\s+\[total, attack",
        r"Latencies\s+\[m",
        r"Bucket\s+#\s+%\s+Histogram",
        r"Value\(ms\)\s+Percentile\s+TotalCount",
        r"Usage: vegeta ",
        r"(?:[\w./-]{1,40}: ){1,3}vegeta: (?:command )?not found",
    ), ending=Ending(
        r"\[.*%(?:[ \t]+#+)?|[0-9.]+[ \t]+[01]\.[0-9]+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9]{6}",
        section=r"Error Set:",
        after=r"Requests\s+\[total",
        name="'Error Set:'",
    )),
    Form("vegeta", "json", "load.vegeta:parse_vegeta_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{(?=[\s\S]{0,4000}?"latencies"\s*:\s*\{)',
    ), ending=JSON),
    Form("vegeta", "requests-json", "load.vegeta_requests:parse_vegeta_jsonl", (
        r'\A\s*\{(?=[^\n]{0,4000}?"timestamp"\s*:)(?=[^\n]{0,4000}?"latency"\s*:\s*[0-9])',
    ), commas=True, ending=JSON),
    Form("vegeta", "requests", "load.vegeta_requests:parse_vegeta_csv", (
        r"\A\s*[0-9]{19},[0-9]{1,3},[0-9]{1,18},[0-9]{1,18},[0-9]{1,18},",
    ), commas=True),
    Form("weighttp", "", "load.weighttp:parse_weighttp", (
        r"weighttp(?: \S+)? - a? ?(?:lightweight|simple)",
        r"weighttp <options> ",
        r"spawning thread #[0-9]+: [0-9]+ concurrent requests",
        r"finished in [0-9]+ sec,",
        r"\{\s*\"reqs_per_sec\"",
        r"error: (?:socket|connect|read|write)\(\) failed: ",
        r"error: (?:insane arguments|concur_count|thread_count|num of |could not resolve hostname"
        r"|no ssl support)",
    ), ending=Ending(r"traffic: .*bytes data|\}", section=r"traffic: ", after=r"requests: [0-9]", name="'traffic:'")),
    # wrk2 prints the headings of wrk; `parse_wrk` reads both.
    Form("wrk", "", "load.wrk:parse_wrk", _WRK_SIGNATURE, ending=_WRK_ENDING),
    Form("wrk2", "", "load.wrk:parse_wrk2", _WRK_SIGNATURE, ending=_WRK_ENDING),
    Form("wrk", "json", "load.wrk_json:parse_wrk_json", (
        r'\A(?:[^{\n]*\n){0,20}\s*\{\s*"wrk_reporter"\s*:',
    ), ending=JSON),
    # sysstat and vmstat
    # sar begins with the same line.
    Form("iostat", "", "sysstat.iostat:parse_iostat", (
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*(?:[^\n]{1,60}\n\s*)?)?(?:[^\W\d][^\s:：]{0,19}[:：][ \t]+%user[ \t]"
        r"|(?:Device|Filesystem):?[ \t]+(?:tps|r/s|rrqm/s|rsec/s|r(?:Blk|kB|MB)_nor/s)[ \t]"
        r"|[^\W\d][^\s:：]{0,19}[:：]?[ \t]+(?:tps[ \t]+(?:Blk|kB|MB|sec)[_/]|(?:r/s|rrqm/s|rsec/s)[ \t])"
        r"|(?:tps|r/s|rrqm/s)[ \t][^\n]*[ \t]Device[ \t]*$)",
    ), ending=TWO_DECIMALS),
    Form("iostat", "json", "sysstat.iostat:parse_iostat_json", (
        r"\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"(?:avg-cpu|disk)\")(?![\s\S]{0,2000}?\"file-date\")",
    ), ending=JSON),
    # sar begins with the same line.
    Form("mpstat", "", "sysstat.mpstat:parse_mpstat", (
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?(?![#>*%;-][ \t])\S[^\n]{0,24}?[ \t](?:CPU|NODE)"
        r"[ \t]+(?:CORE[ \t]+SOCK[ \t]+NODE[ \t]+)?(?:%us(?:er|r)[ \t]+%nice[ \t]+%sys(?:tem)?"
        r"[ \t]+(?:(?:%iowait[ \t]+)?%idle[ \t]+intr/s|%iowait[ \t]+%irq[ \t])|intr/s[ \t]*$|(?:[0-9]+|HI"
        r"|NMI)/s[ \t])",
    ), ending=TWO_DECIMALS),
    # sadf -j also begins with "sysstat", but has a key "file-date".
    Form("mpstat", "json", "sysstat.mpstat:parse_mpstat_json", (
        r"\{\s*\"sysstat\"\s*:\s*\{(?![\s\S]{0,2000}?\"file-date\")(?=[\s\S]{0,2000}?\"(?:cpu-load"
        r"|node-load|(?:sum|individual|soft)-interrupts)\")",
    ), ending=JSON),
    # sar begins with the same line.
    Form("pidstat", "", "sysstat.pidstat:parse_pidstat", (
        r"(?:Linux +\S+ +\([^)\n]*\)[^\n]*\n\s*)?(?:#[ \t]*Time|(?![#>*%;-][ \t])\S[^\n]{0,24}?)"
        r"[ \t]+(?:UID|USER|PID|TGID)[ \t][^\n]*[ \t]Command[ \t]*$",
    )),
    Form("pidstat", "json", "sysstat.pidstat:parse_pidstat_json", (
        r"\{\s*\"sysstat\"\s*:\s*\{(?![\s\S]{0,2000}?\"file-date\")(?=[\s\S]{0,2000}?\"(?:PID|pid|TGID|tgid)\"\s*:)",
    )),
    Form("sadf", "", "sysstat.sadf:parse_sadf", (
        r"#? ?hostname;interval;timestamp",
        r"[^;\s]+;-1;[^;\n]{9,40};(?:LINUX-RESTART|COM )",
    ), ending=TWO_DECIMALS),
    Form("sadf", "header", "sysstat.sadf_header:parse_sadf_header", (r"System activity data file: ",)),
    Form("sadf", "raw", "sysstat.sadf_header:refuse_sadf", (
        r"[0-9:]{8}(?: [A-Z]{2,5})?; \S+; ",
        r"<\?xml [^>\n]*\?>\s*<!DOCTYPE svg[^>]*>\s*<svg[^>]*>\s*<text[^>]*>Linux ",
    ), commas=True),
    Form("sadf", "json", "sysstat.sadf_json:parse_sadf_json", (
        r"\{\s*\"sysstat\"\s*:\s*\{(?=[\s\S]{0,2000}?\"file-date\")",
    ), ending=JSON),
    # The metric of a row, such as rxpck/s, looks like a heading of sar.
    Form("sadf", "p", "sysstat.sadf:parse_sadf_p", (
        r"\S{1,255}[ \t]+-?[0-9]{1,10}[ \t]+(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t][0-9:]{8}(?: \S{2,5})?"
        r"|[0-9]{9,11})[ \t]+(?:\S+[ \t]+(?:[%\w/.-]+)[ \t]+-?[0-9.,]+$|LINUX-RESTART|COM )",
    ), ending=TWO_DECIMALS),
    Form("sadf", "xml", "sysstat.sadf_xml:parse_sadf_xml", (
        r"(?:<\?xml [^>\n]*\?>\s*)?(?:<!DOCTYPE sysstat|<sysstat[\s>])",
    ), commas=True, ending=Ending(r"</sysstat>")),
    # A line quoted with "> " is left to the search without prefixes.
    Form("sar", "", "sysstat.sar:parse_sar", (
        r"Linux +\S+ +\([^)\n]*\)[ \t]",
        r"(?![#>*%;-][ \t])\S[^\n]{0,30}?[ \t](?:CPU[ \t]+(?:%user[ \t]+%nice[ \t]+%system[ \t]+(?:%idle"
        r"|%iowait[ \t]+(?:%steal|%idle[ \t]*$))|%usr[ \t]+%nice[ \t]+%sys(?:tem)?"
        r"[ \t]+%iowait[ \t]+%steal|MHz|wghMHz|i[0-9]{3}/s|total/s[ \t])|(?:IFACE[ \t]+)?rx(?:pck|err)"
        r"/s[ \t]|(?:DEV[ \t]+)?tps[ \t]+(?:rtps|rkB/s|rd_sec/s|sect/s)|INTR[ \t]+(?:intr/s|all)|(?:proc"
        r"|cswch|frmpg)/s(?:[ \t]|$)|pswpin/s[ \t]|pgpgin/s[ \t]|kbmemfree[ \t]|kbswpfree[ \t]"
        r"|kbhugfree[ \t]|runq-sz[ \t]|%s(?:cpu|io|mem)-10[ \t]|dentunusd[ \t]|TTY[ \t]+rcvin/s|(?:active"
        r"|atmptf|irec|ihdrerr|imsg|ierr)/s[ \t]|(?:totsck|tcp6sck)[ \t]|s?call/s[ \t]|idgm6?/s[ \t]"
        r"|MBfsfree[ \t]|(?:FCHOST[ \t]+)?fch_rxf/s|LINUX RESTART)",
        r"(?:SunOS|AIX|HP-UX|Darwin) [^\n]{1,100}? [0-9]{2}/[0-9]{2}/[0-9]{2,4}[ \t]*$",
        r"(?:\S+: )?Cannot open \S*/sa[r0-9]\S*: ",
        r"Requested activities not available",
        r"Invalid system activity file",
        r"Usage: sar ",
        r"(?:-?\w+: )?(?:line [0-9]+: )?sar: command not found",
    ), ending=TWO_DECIMALS),
    Form("vmstat", "statistics", "sysstat.vmstat:parse_vmstat_statistics", (r"[0-9]+ [kKmM] total memory[ \t]*$",)),
    Form("vmstat", "", "sysstat.vmstat:parse_vmstat", (
        r"(?:-+time-+ +)?-*procs-*[ -]+memory[ -]",
        r"r +b +(?:w +)?swpd +free ",
        r"disk- -+reads-",
    )),
    # Sockets
    Form("ss", "summary", "sockets.ss:parse_ss", (
        r"Total:[ \t]+[0-9]+(?:[ \t]+\(kernel[ \t]+[0-9]+\))?[ \t]*$",
        r"TCP:[ \t]+[0-9]+[ \t]+\(estab[ \t]",
    )),
    Form("ss", "connections", "sockets.ss:parse_ss", (
        r"(?:Netid[ \t]*)?(?:State[ \t]*)?(?:Recv-Q[ \t]*Send-Q[ \t]*)?"
        r"Local Address[ \t]*:[ \t]*Port[ \t]*Peer Address[ \t]*:",
        r"(?:(?:tcp|udp|raw|mptcp|sctp|dccp|icmp6|u_str|u_dgr|u_seq|nl|p_raw|p_dgr|v_str|v_dgr|xdp|ti_..)"
        r"[ \t]+)?(?:ESTAB|LISTEN|UNCONN|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|FIN-WAIT-[12]|SYN-SENT"
        r"|SYN-RECV)[ \t]+-?[0-9]+[ \t]+-?[0-9]+[ \t]+\S",
        r"[0-9]+[ \t]+[0-9]+[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)[ \t]+\S+:(?:[0-9]+|\*|[a-z][\w-]*)"
        r"(?=[ \t]|$)",
        r"(?:[^\s:]+: ){0,3}(?:line [0-9]+: |[0-9]+: )?(?:\S*/)?ss: (?:command )?not found",
        r"(?:\S+: )?command not found: ss$",
        r"ss: (?=[a-zA-Z])",
        r"Usage: ss \[",
        r"Cannot open netlink socket: ",
    )),
    # Balancers
    Form("conntrack", "", "balancers.conntrack:parse_conntrack", (
        r"(?:\[[0-9.]{1,30}[ \t]*\][ \t]*)?(?:\[(?:NEW|UPDATE|DESTROY)\][ \t]*)?"
        r"(?:ipv[46][ \t]+[0-9]+[ \t]+)?[a-z][a-z0-9-]{0,20}[ \t]+[0-9]{1,3}[ \t]+(?:[0-9]{1,10}[ \t]+)?"
        r"(?:[A-Z_0-9]{1,20}[ \t]+)?src=[0-9a-f]",
        r"conntrack v[0-9.]+ \(conntrack-tools\): ",
        r"cpu=[0-9]+[ \t]+(?:found|searched)=[0-9]",
        r"entries[ \t]+[0-9]+[ \t]*\n[ \t]*searched[ \t]",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )conntrack: ",
    )),
    Form("haproxy", "", "balancers.haproxy:parse_haproxy", (
        r"(?:#[ \t]*)?pxname,svname,",
    ), commas=True, ending=Ending(r".*,")),
    Form("proc", "ip_vs_stats", "balancers.ip_vs_stats:parse_ip_vs_stats", (
        r"Total\s+Incoming\s+Outgoing\s+Incoming\s+Outgoing",
    )),
    Form("iptables", "", "balancers.iptables:parse_iptables", (
        r"Chain \S+ \((?:policy [A-Z]|[0-9]+ references?)",
        r"\*(?:filter|nat|mangle|raw|security)\s*$",
        r"ip6?tables(?:-save)? v[0-9.]{1,9} ",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )ip6?tables(?:-save)?: ",
    ), commas=True),
    # ipvsadm begins with the same line.
    Form("proc", "ip_vs", "balancers.ipvsadm:parse_ipvsadm", (
        r"IP Virtual Server version [^\n]*\n\s*Prot LocalAddress:Port Scheduler Flags\s*\n\s*-> RemoteAddr"
        r"ess:Port Forward Weight ActiveConn InActConn[ \t]*\n\s*(?:(?:TCP|UDP|SCTP)\s+(?:[0-9A-F]{8}"
        r"|\[(?:[0-9a-f]{4}:){7}[0-9a-f]{4}\]):[0-9A-F]{4}\s|FWM\s+[0-9A-F]{8}\s)",
    )),
    Form("proc", "ip_vs_conn", "balancers.ipvsadm:parse_ipvsadm", (
        r"Pro\s+FromIP\s+FPrt\s+ToIP\s",
        r"(?:TCP|UDP|SCTP)[ \t]+(?:[0-9A-F]{8}|(?:[0-9a-f]{4}:){7}[0-9a-f]{4})[ \t]+[0-9A-F]{4}[ \t]+[0-9A-Fa-f]",
    )),
    Form("ipvsadm", "", "balancers.ipvsadm:parse_ipvsadm", (
        r"IP Virtual Server version ",
        r"Prot\s+LocalAddress:Port\s",
        r"-(?:>|&gt;)\s*RemoteAddress:Port\s",
        r"IPVS connection entries",
        r"pro\s+expire\s+state\s+source\s",
        r"VIP:VPORT\s+TOTAL\s",
        r"(?:TCP|UDP|SCTP|IP)[ \t]+[0-9]{2,9}:[0-9]{2}[ \t]+[A-Z_]{3,12}[ \t]+\S{1,99}:\w{1,40}[ \t]",
        r"\[[0-9]{1,3}\](?:tcp|udp|icmp|--)[ \t]+[0-9]{1,9}s[ \t]",
        r"(?:TCP|UDP|SCTP)[ \t]+\S{1,99}:\w{1,40}[ \t]+(?:w?rr|w?lc|lblcr?|[dsm]h|sed|nq|fo|ovf|twos"
        r"|conhash)\s",
        r"-(?:>|&gt;)[ \t]*\S{1,99}[ \t]+(?:Route|Masq|Tunnel|Local|FullNat|SNAT)[ \t]+[0-9]",
        r"-[Aa] (?:-[tufq]|--(?:tcp|udp|sctp|fwmark)-service) \S{1,99} (?:-6 )?-[sr] ",
        r"Timeout \(tcp tcpfin udp\)",
        r"(?:master|backup) sync daemon \(mcast=",
        r"Can't initialize ipvs",
        r"(?:\S*sh: (?:line [0-9]+: )?|sudo: )?ipvsadm: ",
        r"Illegal '[\w-]+' option with the '",
        r"cannot open file /proc/net/ip_vs",
        r"cat: /proc/net/ip_vs",
    )),
    Form("nft", "json", "balancers.nft:parse_nft_json", (r'\A\s*\{\s*"nftables"\s*:',), ending=JSON),
    Form("nft", "", "balancers.nft:parse_nft", (
        r"table (?:ip6?|inet|arp|bridge|netdev) \S+ \{",
    ), commas=True, ending=Ending(r"\}")),
    # Servers
    Form("nginx", "access-json", "servers.access_json:parse_access_json", (
        r"\{(?=[^\n]{0,4000}?\"(?:remote_addr|time_local|time_iso8601|request_uri|request|http_user_agent"
        r"|clientip|body_bytes_sent)\"\s*:)[^\n]{0,4000}?\"(?:http_)?(?:status|code)\"\s*:\s*\"?[0-9]",
    ), commas=True, ending=JSON),
    # Without its first field, a line of this form is one of nginx.
    Form("apache", "access", "servers.access_log:parse_apache_log", (
        r"\S{1,255}:[0-9]{1,5} [^\s\[]\S{0,255} \S{1,255} \S{1,255} \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9"
        r":]{8} [+-][0-9]{4}\] \"",
    ), commas=True, ending=Ending(r'.*"')),
    Form("nginx", "access", "servers.access_log:parse_access_log", (
        r"[^\s\[]\S{0,255}(?: [^\s\[]\S{0,255}){0,3}"
        r" \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}\] \"",
    ), commas=True, ending=Ending(r'.*"')),
    Form("nginx", "error", "servers.error_log:parse_error_log", (
        r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8} \[(?:debug|info|notice|warn|error|crit|alert|emerg)\] ",
    ), commas=True),
    Form("apache", "error", "servers.error_log:parse_error_log", (
        r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]{1,6})? [0-9]{4}\] \[(?:\w*:)?"
        r"[a-z]+[0-9]?\] ",
    ), commas=True),
    Form("apache", "server-status", "servers.server_status:parse_server_status", (
        r"Total Accesses: [0-9]",
        r"ServerVersion: \S",
        r"BusyWorkers: [0-9]",
        r"BusyServers: [0-9]",
        r"ServerUptimeSeconds: ",
    ), commas=True),
    Form("nginx", "stub_status", "servers.stub_status:parse_stub_status", (
        r"(?:<[^>\n]{1,80}>)?Active connections:\s+[0-9]",
    ), ending=Ending(r".*Waiting: [0-9]+")),
    # The kernel's counters
    Form("cgroup", "", "kernel.cgroup:parse_cgroup", (
        r"(?:\S*cpu\.stat:)?(?:usage_usec|nr_periods|nr_throttled|throttled_usec)[ \t]+[0-9]+[ \t]*$",
    )),
    Form("ethtool", "", "kernel.ethtool:parse_ethtool", (
        r"NIC statistics:[ \t]*$",
        r"Standard stats for \S+:",
        r"no stats available",
        r"Cannot get stats strings information: ",
    )),
    Form("ip", "link", "kernel.ip_link:parse_ip_link", (
        r"[0-9]{1,9}: [^\s:]{1,80}: <[^>\n]*>[^\n]*\n(?:(?![ \t]*[0-9]{1,9}: )[^\n]*\n){1,12}?"
        r"[ \t]*RX:[ \t]+bytes[ \t]+packets",
    )),
    Form("ip", "link-json", "kernel.ip_link:parse_ip_link_json", (
        r"\[\s*\{(?=[\s\S]{0,400}?\"ifname\")(?=[\s\S]{0,5000}?\"stats(?:64)?\"\s*:)",
    ), ending=JSON),
    Form("netstat", "", "kernel.netstat:parse_netstat", (
        r"(?:Ip6?|Icmp6?|IcmpMsg|Tcp|Udp6?|UdpLite6?|TcpExt|IpExt):[ \t]*\n(?=[ \t]*(?:[0-9]+ [^\W\d]"
        r"|[A-Z]\w*: -?[0-9]))",
        r"[0-9]+ (?:times the listen queue of a socket overflowed|SYNs to LISTEN sockets "
        r"|segments retrans|active connections? openings|passive connection openings"
        r"|failed connection attempts|connection resets received|invalid SYN cookies received"
        r"|SYN cookies |packets? (?:pruned|collapsed|rejects?) |TCP sockets finished time wait"
        r"|resets received for embryonic|delayed acks sent|packet receive errors|receive buffer errors"
        r"|fast retransmits|times recovered from packet loss|connections (?:reset|aborted) due to"
        r"|other TCP timeouts|timeouts after )",
    )),
    Form("nstat", "", "kernel.nstat:parse_nstat", (
        r"#(?:kernel[ \t]*$|[0-9]+\.[0-9]+ sampling_interval=)",
        r"(?:Ip6?|Icmp6?|Tcp|TcpExt|IpExt|Udp6?)[A-Z]\w+[ \t]+[0-9]+[ \t]+[0-9]+\.[0-9][ \t]*$",
    )),
    Form("nstat", "json", "kernel.nstat:parse_nstat_json", (
        r"\{\s*\"(?:kernel|[0-9]+\.[0-9]+ sampling_interval[^\"\n]*)\"\s*:\s*\{",
    ), ending=JSON),
    Form("proc", "", "kernel.proc:parse_proc", (
        r"CPU[0-9]+(?:[ \t]+CPU[0-9]+)*[ \t]*\n(?=[ \t]*[\w/]{1,12}:[ \t]+[0-9])",
        r"[0-9]+:[ \t]+(?:[0-9]+[ \t]+)+(?:IR-)?(?:PCI-MSI|IO-APIC|XT-PIC|GIC)",
        r"sl[ \t]+local_address[ \t]+rem",
        r"[0-9a-f]{8}(?:[ \t]+[0-9a-f]{8}){8}",
        r"Inter-\|[ \t]*Receive",
        r"(?:Ip|Icmp|IcmpMsg|Tcp|Udp|UdpLite|Sctp|TcpExt|IpExt|MPTcpExt):[ \t]+[A-Z]\w+(?:[ \t]+[A-Z]\w+)*"
        r"[ \t]*\n[ \t]*[A-Z]\w+:[ \t]+-?[0-9]",
        r"Ip6InReceives[ \t]+[0-9]+[ \t]*$",
        r"sockets:[ \t]+used[ \t]+[0-9]",
        r"TCP6?:[ \t]+inuse[ \t]+[0-9]",
        r"MemTotal:[ \t]+[0-9]+[ \t]+kB",
        r"Limit[ \t]+Soft Limit[ \t]+Hard Limit",
        r"cpu[ \t]+[0-9]+ [0-9]+ [0-9]+ [0-9]+",
        r"[0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+\.[0-9]{2} [0-9]+/[0-9]+ [0-9]+[ \t]*$",
    )),
    Form("sysctl", "", "kernel.sysctl:parse_sysctl", (
        r"(?:abi|debug|dev|fs|kernel|net|user|vm)\.[\w./@*:-]+[ \t]+=[ \t]+\S",
    )),
)
# fmt: on


@cache
def form_of(tool: str, variant: str) -> Form | None:
    """Return the form that `run.json` names; None where its output is not read."""
    return next((form for form in FORMS if (form.tool, form.variant) == (tool, variant)), None)


@cache
def forms_of(tool: str) -> tuple[Form, ...]:
    """Return the forms of a tool, its main form first, or the form that ``TOOL:VARIANT`` names; () if unknown."""
    found = (form for form in FORMS if tool in (form.tool, form.name))
    return tuple(sorted(found, key=lambda form: form.variant != ""))
