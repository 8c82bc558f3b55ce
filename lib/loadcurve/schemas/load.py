"""What load generators report and were asked for: `runs`, `factors`, `latency`, `histogram`, `phases`, `requests`."""

import pandera.pandas as pa

from loadcurve.schemas.declare import GENERATOR, RUN, at_least_0, count, name, number, ratio, time, truth

RUNS = pa.DataFrameSchema(
    {
        **RUN,
        "status": name(
            "finished, failed, interrupted or running, by run.json or the tool; missing when only runs.json has it."
        ),
        "reason": name("Why the run failed or ended early, in the tool's words."),
        "generator": count("Index of the load generator within the run, from 0."),
        "host": name("Host on which the load generator ran."),
        "tool": name("Load generator: wrk, ab, weighttp."),
        "tool_version": name("Version as the tool itself prints it."),
        "variant": name("Variant of the system under test, a factor of the study."),
        "repeat": count("Repetition of the same point, from 1."),
        "url": name("What was requested, as the tool prints it."),
        "server_software": name("What the server calls itself."),
        "tls": name("TLS protocol and cipher, as the tool prints them."),
        "started_at": time("Instant at which the load generator was started."),
        "duration_s": at_least_0("s", "Time over which the generator counted requests, as it reports it."),
        "threads": count("Threads of the generator."),
        "connections": count("Concurrent connections asked for (N)."),
        "server_cpu": count("Processor the server was kept on; missing where it was not pinned."),
        "generator_cpu": count("Processor the generator was kept on; missing where it was not pinned."),
        "cpu_other_ratio": ratio(
            "Part of the run's processors that processes outside the run took while the load lasted; of its machines "
            "the one with most. Missing where it was not measured."
        ),
        "cpu_steal_ratio": ratio(
            "Part of the run's processors that the hypervisor kept while the load lasted (steal)."
        ),
        "target_rate_rps": at_least_0("rps", "Requests per second that the generator was asked to send (open loop)."),
        "requests_asked": count("Requests that the generator was asked to make."),
        "requests_started": count("Requests begun, answered or not."),
        "requests": count("Responses received, whatever their status."),
        "requests_succeeded": count("Requests that the tool itself calls successful."),
        "requests_failed": count("Requests that the tool itself calls failed; what counts differs between tools."),
        "requests_keepalive": count("Requests answered on a connection that was kept open."),
        "throughput_rps": at_least_0(
            "rps", "Responses per second (X), as the tool reports it; includes error responses."
        ),
        "goodput_rps": at_least_0("rps", "Responses per second without those of an error status."),
        "received_bytes": at_least_0("bytes", "Bytes read from the sockets, headers included."),
        "received_body_bytes": at_least_0("bytes", "Bytes of the response bodies alone."),
        "sent_bytes": at_least_0("bytes", "Bytes written to the sockets."),
        "received_bytes_per_s": at_least_0("bytes_per_s", "Bytes read per second, headers included."),
        "sent_bytes_per_s": at_least_0("bytes_per_s", "Bytes written per second."),
        "document_bytes": at_least_0("bytes", "Size of the response body, as the tool states it."),
        "latency_mean_s": at_least_0("s", "Mean response time (R)."),
        "latency_stdev_s": at_least_0("s", "Standard deviation of the response time."),
        "latency_min_s": at_least_0("s", "Smallest response time."),
        "latency_max_s": at_least_0("s", "Largest response time."),
        "errors_connect": count("Connections that could not be opened."),
        "errors_read": count("Errors while reading a response; ab counts these requests in requests, too."),
        "errors_write": count("Errors while writing a request; ab counts these requests in requests, too."),
        "errors_timeout": count("Responses later than the generator's timeout; may also be counted in requests."),
        "errors_status": count("Responses with an error status: 400 or more; for ab, any that is not 2xx."),
        "errors_length": count("Responses whose length differs from the first one's (ab)."),
        "errors_exception": count("Exceptions of the poll loop (ab), each beside an error while reading."),
        "errors_other": count("Errors that the tool puts into no other class."),
        "responses_1xx": count("Responses with a status of 100 to 199."),
        "responses_2xx": count("Responses with a status of 200 to 299."),
        "responses_3xx": count("Responses with a status of 300 to 399."),
        "responses_4xx": count("Responses with a status of 400 to 499."),
        "responses_5xx": count("Responses with a status of 500 to 599."),
        "percentile_estimator": name("How the tool makes its percentiles."),
        "latency_corrected": truth("Whether the tool corrects response times for coordinated omission."),
        "latency_usable": truth(
            "Whether throughput times mean response time is within 10 % of the connections (Little's law); where not, "
            "the response times are not those of so many connections (effective-concurrency). Missing: not checkable."
        ),
        "latency_origin": name(
            "measured, where the tool timed responses; derived (N/X), where it did not and Little's law gives the mean."
        ),
    },
    description="One row for each load generator of each run: what was asked for, and what came of it.",
)

FACTORS = pa.DataFrameSchema(
    {
        **RUN,
        "factor": name("Place of the factor in the study's sections, such as load.connections."),
        "level": name("Its level in this run, as study.yml writes it."),
        "number": number("", "The level, where it is a number."),
    },
    description="Levels of each run's factors beside its variant: one row for each; none of runs made by hand.",
)

LATENCY = pa.DataFrameSchema(
    {
        **GENERATOR,
        "quantile": ratio("Part of the responses that were at least as fast."),
        "latency_s": at_least_0("s", "Response time at that quantile."),
        "responses": count("Responses at least as fast, where the tool counts them."),
        "corrected": truth("Whether the tool corrects for coordinated omission."),
    },
    description="Quantiles of the response time, one row for each that the tool printed.",
)

HISTOGRAM = pa.DataFrameSchema(
    {
        **GENERATOR,
        "lower_s": at_least_0("s", "Lower end of the class; missing where the tool prints one mark only."),
        "upper_s": at_least_0("s", "Upper end of the class."),
        "responses": count("Responses in the class."),
        "corrected": truth("Whether the tool corrects for coordinated omission."),
    },
    description="Response times by class (wrk, hey, oha, vegeta, fortio).",
)

PHASES = pa.DataFrameSchema(
    {
        **GENERATOR,
        "phase": name(
            "connect, processing, waiting, total, dns, tls, write, first_byte, read, request, blocked; else as printed."
        ),
        "mean_s": at_least_0("s", "Mean time."),
        "stdev_s": at_least_0("s", "Standard deviation."),
        "min_s": at_least_0("s", "Smallest time."),
        "median_s": at_least_0("s", "Median."),
        "max_s": at_least_0("s", "Largest time."),
    },
    description="Times of the parts of a request, as ab, h2load, hey and k6 split it.",
)

REQUESTS = pa.DataFrameSchema(
    {
        **GENERATOR,
        "tool": name("Whose record it is: ab, hey, vegeta, nginx, apache."),
        "time": time("Instant the request began; in an access log, the instant it was logged."),
        "offset_s": at_least_0("s", "Time since the generator started (hey)."),
        "latency_s": at_least_0("s", "Response time; in an access log, the server's own request time."),
        "connect_s": at_least_0("s", "Time to open the connection."),
        "dns_s": at_least_0("s", "Time to resolve the name."),
        "write_s": at_least_0("s", "Time to write the request."),
        "waiting_s": at_least_0("s", "Time from the request written to the first byte of the response."),
        "read_s": at_least_0("s", "Time to read the response."),
        "processing_s": at_least_0("s", "Time from the connection opened to the response read (ab)."),
        "upstream_s": at_least_0("s", "Time the upstream took; the sum where several were tried."),
        "status": count("Status code of the response; missing where there was none."),
        "received_bytes": at_least_0("bytes", "Bytes received by the client, as far as the record tells them."),
        "sent_bytes": at_least_0("bytes", "Bytes of the request."),
        "error": name("Error in the tool's words."),
        "client_address": name("Client, as the server saw it."),
        "user": name("Authenticated user."),
        "method": name("Request method."),
        "url": name("Requested target."),
        "protocol": name("Protocol of the request line."),
        "referer": name("Referer header."),
        "user_agent": name("User-Agent header."),
        "other": name("Further variables of the log format: name=value, separated by blanks."),
    },
    description="One row for each request: ab -g, hey -o csv, vegeta encode, access logs.",
)
