"""Tables of load generators: `runs`, `factors`, `latency`, `histogram`, `phases`, `requests`, `labels`."""

from loadcurve.tables.schemas.declare import (
    GENERATOR,
    RESPONSES,
    RUN,
    Table,
    at_least_0,
    count,
    name,
    number,
    ratio,
    time,
    truth,
)

RUNS = Table(
    {
        **RUN,
        "status": name(
            "finished, failed, interrupted or running, by run.json or the tool; missing if only runs.json has the run."
        ),
        "reason": name("Why the run failed or ended early, in the tool's words."),
        "generator": count("Index of the load generator within the run, from 0."),
        "host": name("Host on which the load generator ran."),
        "tool": name("Load generator: wrk, ab, weighttp."),
        "tool_version": name("Version as the tool itself prints it."),
        "variant": name("Variant of the system under test, a factor of the study."),
        "repeat": count("Repetition of the same point, from 1."),
        "label": name("Heading or command before the report, or the script that it names."),
        "url": name("Requested URL, as the tool prints it."),
        "server_software": name("Server software, as the server reports it."),
        "tls": name("TLS protocol and cipher, as the tool prints them."),
        "started_at": time("Time at which the load generator was started."),
        "duration_s": at_least_0("Time over which the generator counted requests, as it reports it."),
        "duration_asked_s": at_least_0("Time for which the generator was asked to send; missing if not stated."),
        "threads": count("Threads of the generator."),
        "connections": count("Concurrent connections requested (N)."),
        "server_cpu": count("Processor that the server was pinned to; missing if it was not pinned."),
        "generator_cpu": count("Processor that the generator was pinned to; missing if it was not pinned."),
        "cpu_other_ratio": ratio(
            "Share of the run's processors used by processes outside the run during the load, on the machine with the "
            "largest share. Missing if it was not measured."
        ),
        "cpu_steal_ratio": ratio("Share of the run's processors taken by the hypervisor during the load (steal)."),
        "target_rate_rps": at_least_0("Requests per second that the generator was asked to send (open loop)."),
        "requests_asked": count("Requests that the generator was asked to send."),
        "requests_started": count("Requests started, with or without a response."),
        "requests": count("Responses received, whatever their status."),
        "requests_succeeded": count("Requests that the tool counts as successful."),
        "requests_failed": count("Requests that the tool counts as failed; the definition differs between tools."),
        "requests_keepalive": count("Requests with a response on a connection that was kept open."),
        "throughput_rps": at_least_0("Responses per second (X), as the tool reports it; includes error responses."),
        "goodput_rps": at_least_0("Responses per second to requests that did not fail."),
        "received_bytes": at_least_0("Bytes read from the sockets, headers included."),
        "received_body_bytes": at_least_0("Bytes of the response bodies alone."),
        "sent_bytes": at_least_0("Bytes written to the sockets."),
        "received_bytes_per_s": at_least_0("Bytes read per second, headers included."),
        "sent_bytes_per_s": at_least_0("Bytes written per second."),
        "document_bytes": at_least_0("Size of the response body, as the tool states it."),
        "header_bytes": at_least_0("Size of the header of a response, where a report states it."),
        "link_bps": at_least_0("Speed of the link that carries the responses, where a report states it."),
        "server_units": count(
            "Equal units that serve side by side (sockets, servers behind a balancer), where they were counted."
        ),
        "throughput_is_least": truth("Whether the throughput is a lower bound, such as “30+” in a report."),
        "latency_mean_s": at_least_0("Mean response time (R)."),
        "latency_stdev_s": at_least_0("Standard deviation of the response time."),
        "latency_min_s": at_least_0("Smallest response time."),
        "latency_max_s": at_least_0("Largest response time."),
        "errors_connect": count("Connections that could not be opened."),
        "errors_read": count("Errors while reading a response; ab also counts these requests in `requests`."),
        "errors_write": count("Errors while writing a request; ab also counts these requests in `requests`."),
        "errors_timeout": count("Responses later than the generator's timeout; may also be counted in `requests`."),
        "errors_status": count("Responses with an error status: 400 or more; for ab, any that is not 2xx."),
        "errors_length": count("Responses whose length differs from the first one's (ab)."),
        "errors_exception": count("Exceptions of the poll loop (ab), each in addition to an error while reading."),
        "errors_other": count("Errors that belong to none of the tool's other classes."),
        **RESPONSES,
        "percentile_estimator": name("Method by which the tool computes its percentiles."),
        "latency_corrected": truth("Whether the tool corrects response times for coordinated omission."),
        "latency_usable": truth(
            "Whether throughput times mean response time is within 10 % of the connections (Little's law); if not, the "
            "response times are not those of this many connections (effective-concurrency). Missing: not checked."
        ),
        "latency_origin": name(
            "measured, if the tool timed responses; derived (N/X), if the mean was computed by Little's law."
        ),
    },
    description="One row for each load generator of each run: the requested load and the result.",
)

FACTORS = Table(
    {
        **RUN,
        "factor": name("Place of the factor in the study's sections, such as load.connections."),
        "level": name("Level of the factor in this run, as in study.yml."),
        "number": number("Level, if it is a number."),
    },
    description="Levels of each run's factors except its variant: one row for each; none for runs outside a study.",
)

LATENCY = Table(
    {
        **GENERATOR,
        "quantile": ratio("Share of the responses that were at least as fast."),
        "latency_s": at_least_0("Response time at that quantile."),
        "responses": count("Responses at least as fast, if the tool counts them."),
        "corrected": truth("Whether the tool corrects for coordinated omission."),
    },
    description="Quantiles of the response time, one row for each that the tool printed.",
)

HISTOGRAM = Table(
    {
        **GENERATOR,
        "lower_s": at_least_0("Lower end of the class; missing if the tool prints only one boundary."),
        "upper_s": at_least_0("Upper end of the class."),
        "responses": count("Responses in the class."),
        "corrected": truth("Whether the tool corrects for coordinated omission."),
    },
    description="Response times by class (wrk, hey, oha, vegeta, fortio).",
)

PHASES = Table(
    {
        **GENERATOR,
        "phase": name(
            "connect, processing, waiting, total, dns, tls, write, first_byte, read, request, blocked; else as printed."
        ),
        "mean_s": at_least_0("Mean time."),
        "stdev_s": at_least_0("Standard deviation."),
        "min_s": at_least_0("Smallest time."),
        "median_s": at_least_0("Median."),
        "max_s": at_least_0("Largest time."),
    },
    description="Times of the phases of a request, as reported by ab, h2load, hey and k6.",
)

REQUESTS = Table(
    {
        **GENERATOR,
        "tool": name("Tool that recorded the request: ab, hey, vegeta, jmeter, gatling, nginx, apache."),
        "label": name(
            "Name that the test plan gives to the request: JMeter's label, Gatling's groups and request name."
        ),
        "time": time("Time at which the request began; in an access log, the time at which it was logged."),
        "offset_s": at_least_0("Time since the generator started (hey)."),
        "latency_s": at_least_0("Response time; in an access log, the server's own request time."),
        "connect_s": at_least_0("Time to open the connection."),
        "dns_s": at_least_0("Time to resolve the name."),
        "write_s": at_least_0("Time to write the request."),
        "waiting_s": at_least_0("Time from the end of writing the request to the first byte of the response."),
        "first_byte_s": at_least_0("Time from the start of the request, connecting included, to the first byte."),
        "read_s": at_least_0("Time to read the response."),
        "processing_s": at_least_0("Time from opening the connection to the end of reading the response (ab)."),
        "upstream_s": at_least_0("Response time of the upstream; the sum if several were tried."),
        "status": count("Status code of the response; missing without a response."),
        "received_bytes": at_least_0("Bytes received by the client, as far as they are recorded."),
        "sent_bytes": at_least_0("Bytes of the request."),
        "error": name("Error in the tool's words; JMeter and Gatling: of each request that they call failed."),
        "client_address": name("Client, as the server saw it."),
        "user": name("Authenticated user."),
        "method": name("Request method."),
        "url": name("Requested target."),
        "protocol": name("Protocol of the request line."),
        "referer": name("Referer header."),
        "user_agent": name("User-Agent header."),
        "other": name("Further variables of the log format: name=value, separated by blanks."),
    },
    description="One row for each request: ab -g, hey -o csv, vegeta, JTL of JMeter, Gatling's log, access logs.",
)

LABELS = Table(
    {
        **GENERATOR,
        "label": name("Name of the request in the test plan or script."),
        "method": name("Request method, where the tool prints it."),
        "requests": count("Requests of this name that ended, failed ones included."),
        "requests_failed": count("Of these, the requests that the tool calls failed."),
        "throughput_rps": at_least_0("Requests of this name per second, failed ones included."),
        "received_bytes_per_s": at_least_0("Bytes received per second."),
        "sent_bytes_per_s": at_least_0("Bytes sent per second."),
        "document_bytes": at_least_0("Mean size of a response, as the tool states it."),
        "latency_mean_s": at_least_0("Mean response time."),
        "latency_stdev_s": at_least_0("Standard deviation of the response time."),
        "latency_min_s": at_least_0("Smallest response time."),
        "latency_median_s": at_least_0("Median of the response time."),
        "latency_p90_s": at_least_0("Quantile 0.9 of the response time."),
        "latency_p95_s": at_least_0("Quantile 0.95 of the response time."),
        "latency_p99_s": at_least_0("Quantile 0.99 of the response time."),
        "latency_max_s": at_least_0("Largest response time."),
    },
    description="Results by name of the request (JMeter, Gatling, Locust), one row for each name.",
)
