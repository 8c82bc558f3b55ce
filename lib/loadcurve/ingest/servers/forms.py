"""The forms of web servers."""

from loadcurve.ingest.ending import JSON, Ending
from loadcurve.ingest.form import Form

FORMS = (
    Form(
        "nginx", "stub_status", "servers.stub_status:parse_stub_status",
        (
            r"(?:<[^>\n]{1,80}>)?Active connections:\s+[0-9]",
        ),
        takes=("timezone",),
        ending=Ending(r".*Waiting: [0-9]+"),
    ),
    Form(
        "apache", "access", "servers.access_log:parse_apache_log",
        (
            r"\S{1,255}:[0-9]{1,5} [^\s\[]\S{0,255} \S{1,255} \S{1,255} \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9"
            r':]{8} [+-][0-9]{4}\] \"',
        ),
        commas=True,
        takes=("log_format",),
        ending=Ending(r'.*"'),
    ),
    Form(
        "nginx", "access", "servers.access_log:parse_access_log",
        (
            r"[^\s\[]\S{0,255}(?: [^\s\[]\S{0,255}){0,3}"
            r' \[[0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:]{8} [+-][0-9]{4}\] \"',
        ),
        commas=True,
        takes=("log_format",),
        ending=Ending(r'.*"'),
    ),
    Form(
        "nginx", "access-json", "servers.access_json:parse_access_json",
        (
            r'\{(?=[^\n]{0,4000}?\"(?:remote_addr|time_local|time_iso8601|request_uri|request|http_user_agent'
            r'|clientip|body_bytes_sent)\"\s*:)[^\n]{0,4000}?\"(?:http_)?(?:status|code)\"\s*:\s*\"?[0-9]',
        ),
        commas=True,
        ending=JSON,
    ),
    Form(
        "nginx", "error", "servers.error_log:parse_error_log",
        (
            r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8} \[(?:debug|info|notice|warn|error|crit|alert|emerg)\] ",
        ),
        commas=True,
        takes=("timezone",),
    ),
    Form(
        "apache", "error", "servers.error_log:parse_error_log",
        (
            r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8}(?:\.[0-9]{1,6})? [0-9]{4}\] \[(?:\w*:)?"
            r"[a-z]+[0-9]?\] ",
        ),
        commas=True,
        takes=("timezone",),
    ),
    Form(
        "apache", "server-status", "servers.server_status:parse_server_status",
        (
            r"Total Accesses: [0-9]",
            r"ServerVersion: \S",
            r"BusyWorkers: [0-9]",
            r"BusyServers: [0-9]",
            r"ServerUptimeSeconds: ",
        ),
        commas=True,
        takes=("timezone",),
    ),
)  # fmt: skip
