"""Application servers: PHP-FPM behind an nginx and before a MariaDB, with pages of its own or with WordPress.

The database starts in an empty folder within a second because it has no tables of accounts: every client has all
rights.  So it listens only on its socket in the run's folder and, if `listen` is given, on an address of a namespace or
loopback.

The workers of PHP-FPM compute, wait for the database, and respond.  The formula of the best number of threads applies
to them: N = (computing time + waiting time) / computing time, for each processor.

WordPress is as Debian packages it, private to a run: its pages come from /usr/share, its contents from a `MariaDb`.  It
does not use Debian's configuration, which needs files in /etc: a page of the laboratory names the database and then
does what WordPress's ``index.php`` does.  The first request writes the tables and gets a response with status 503.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from loadcurve.errors import ValueRuleError
from loadcurve.lab.hosts.capabilities import Programs
from loadcurve.lab.hosts.host import check_name
from loadcurve.lab.hosts.tools import PackageFile, Tool
from loadcurve.lab.tools.servers.nginx import Process, Serving, block, http_directives, nginx_process
from loadcurve.lab.tools.servers.server import Server, ServerGroup, ServerHost, Service
from loadcurve.lab.tools.servers.settings import Endpoint, check_endpoint, check_path, check_program
from loadcurve.study.section import Check, Range, Section

MARIADB_TOOL = Tool("mariadbd", "database", "--version", "mariadb-server-core")

DATABASE = "lab"
Rows = Annotated[int, Range(1, 1_000_000)]


@dataclass(frozen=True)
class MariaDb(Section):
    """A database server."""

    name: Annotated[str, Check(check_name)]  # Of the service
    rows: Rows = 1000  # Rows of its table `lab.items`: `id` from 1 on, and `name`
    connections: Annotated[int, Range(1, 10_000)] = 151  # `max_connections`
    # Size of the buffer pool; by default far larger than the table, so that reads come from memory.
    buffer_mib: Annotated[int, Range(5, 65_536)] = 128
    listen: Annotated[Endpoint | None, Check(check_endpoint)] = None  # Where it listens besides its socket
    program: Annotated[str, Check(check_program)] = "mariadbd"  # Its name, or its absolute path

    @property
    def socket(self) -> str:
        """Its socket, in the run's folder."""
        return f"{self.name}.work/db.sock"


def mariadb_service(database: MariaDb) -> Service:
    """Return the service of a database.

    Examples
    --------
    >>> mariadb_service(MariaDb("DB")).folders
    ('DB.work',)
    """
    name, listen = database.name, database.listen
    reached = (f"--bind-address={listen.address}", f"--port={listen.port}") if listen else ("--skip-networking",)
    # Each statement on a line of its own; the engine of sequences is built in.
    tables = (
        f"CREATE DATABASE {DATABASE};\n"
        f"CREATE TABLE {DATABASE}.items (id INT PRIMARY KEY, name VARCHAR(32) NOT NULL);\n"
        f"INSERT INTO {DATABASE}.items SELECT seq, CONCAT('item ', seq) FROM {DATABASE}.seq_1_to_{database.rows};\n"
    )
    argv = (
        database.program,
        "--no-defaults",
        "--user=root",  # it refuses root otherwise; of no effect for others
        f"--datadir=./{name}.work",
        # It changes to that folder before it reads what follows.
        "--socket=db.sock",
        "--pid-file=db.pid",
        f"--init-file=../{name}.sql",
        "--skip-grant-tables",
        *reached,
        f"--max-connections={database.connections}",
        f"--innodb-buffer-pool-size={database.buffer_mib}M",
        "--innodb-log-file-size=16M",
        "--innodb-buffer-pool-dump-at-shutdown=OFF",
    )
    return Service(name, "mariadbd", argv, files={f"{name}.sql": tables}, folders=(f"{name}.work",))


PHP_TOOL = Tool("php-fpm", "server of pages", "-v", "php-fpm")
MYSQLI = PackageFile("php-mysql", "/usr/lib/php/*/mysqli.so", "connects PHP to a database")

# As many connections to the database as PHP has processes, and some spare ones.
_SPARE_CONNECTIONS = 16

_FPM = """\
; A private PHP-FPM of the laboratory; started in the run's folder by the command in run.json.
[global]
error_log = /proc/self/fd/2
log_level = warning
daemonize = no

[www]
; Of no effect where the launcher is not root.
user = root
group = root
listen = {socket}
listen.backlog = {backlog}
listen.mode = 0600
pm = static
pm.max_children = {children}
; 0 is no limit.
pm.max_requests = 0
"""

_SETTINGS = (
    *("extension=mysqlnd.so", "extension=mysqli.so", "extension=ctype.so", "zend_extension=opcache.so"),
    *("opcache.enable=1", "memory_limit=256M", "display_errors=0"),
)

_PAGE = """\
<?php
mysqli_report(MYSQLI_REPORT_OFF);
$db = mysqli_init();
if (!@mysqli_real_connect($db, {host}, 'root', '', '{database}', {port}, {socket})) {{
    http_response_code(503);
    exit('no database');
}}
$text = '';
for ($i = 0; $i < {steps}; $i++) {{
    $text = sha1($text);
}}
for ($i = 1; $i <= {queries}; $i++) {{
    $row = mysqli_fetch_row(mysqli_query($db, "SELECT name, SLEEP({wait_s}) FROM items WHERE id = $i"));
}}
header('Content-Type: text/plain');
header('X-Row: ' . $row[0]);
echo str_repeat('x', {body_bytes});
"""


@dataclass(frozen=True)
class Page(Section):
    """What a page does for each request."""

    steps: Annotated[int, Range(0, 10_000_000)] = 1000
    """Work: rounds of SHA-1 on the processor; a thousand are a fraction of a ms."""

    queries: Annotated[int, Range(1, 1000)] = 1
    """Queries of the database, one after the other, each for another row."""

    wait_ms: Annotated[int, Range(0, 10_000, unit="ms")] = 0
    """How long the database sleeps in each query."""

    body_bytes: Annotated[int, Range(1, 1_000_000)] = 616
    """Length of the body."""

    def text(self, database: MariaDb) -> str:
        """Return the PHP text of the page, for a file one folder below the run's folder."""
        listen = database.listen
        return _PAGE.format(
            host=f"'{listen.address}'" if listen else "null",
            port=listen.port if listen else "null",
            socket="null" if listen else f"'../{database.socket}'",
            database=DATABASE,
            steps=self.steps,
            queries=self.queries,
            wait_s=self.wait_ms / 1000,
            body_bytes=self.body_bytes,
        )


Children = Annotated[int, Range(1, 1000)]


@dataclass(frozen=True)
class PhpFpm(Section):
    """PHP's process manager with a fixed number of workers."""

    name: Annotated[str, Check(check_name)]  # Of the service
    children: Children  # `pm.max_children`: number of requests that it handles at the same time
    # Its name, or its absolute path; Debian's has its version in the name.
    program: Annotated[str, Check(check_program)]
    extensions: Annotated[str, Check(check_path)]  # Absolute path of the folder with its extensions

    @property
    def socket(self) -> str:
        """Its socket, in the run's folder."""
        return f"{self.name}.work/php.sock"


def php_service(php: PhpFpm, pages: dict[str, str]) -> Service:
    """Return the service of a PHP-FPM, and of the pages that it runs.

    `pages` has the text of each page by its name, as `Page.text` returns it.
    """
    folder = f"{php.name}.www"
    # Room for as many waiting requests as clients can have connections; the default of 511 would refuse some.
    configuration = _FPM.format(socket=php.socket, children=php.children, backlog=65_535)
    # PHP reads no settings of the system: `-c` names the only file, and PHP_INI_SCAN_DIR is empty.
    settings = (f"extension_dir={php.extensions}", *_SETTINGS)
    argv = (php.program, "-F", "-R", "-p", ".", "-c", f"{php.name}.ini", "-y", f"{php.name}.conf")
    return Service(
        php.name,
        "php-fpm",
        argv,
        files={
            f"{php.name}.conf": configuration,
            f"{php.name}.ini": "".join(f"{line}\n" for line in settings),
            **{f"{folder}/{check_name('pages', page)}.php": text for page, text in pages.items()},
        },
        folders=(f"{php.name}.work", folder),
        env={"PHP_INI_SCAN_DIR": ""},
    )


def php_front_service(
    name: str, listen: Endpoint, php: PhpFpm, process: Process, serving: Serving, pages: Sequence[str]
) -> Service:
    """Return the service of an nginx that passes requests on to PHP-FPM, beside it in the same run's folder.

    Each page is ``/NAME.php``; ``/`` is the first one.
    """
    check_name("name", name)
    check_endpoint("listen", listen)
    values = {
        "SCRIPT_FILENAME": f"{php.name}.www$script",
        "SCRIPT_NAME": "$script",
        "REQUEST_METHOD": "$request_method",
        "QUERY_STRING": "$query_string",
        "REQUEST_URI": "$request_uri",
        "SERVER_PROTOCOL": "$server_protocol",
        "SERVER_NAME": "$host",
        "HTTP_HOST": "$http_host",
        "REMOTE_ADDR": "$remote_addr",
    }
    passed = [f"fastcgi_pass unix:{php.socket};"]
    passed += ["fastcgi_read_timeout 300;"]  # a slow page must not run into a limit of the proxy
    passed += [f"fastcgi_param {key} {value};" for key, value in values.items()]
    paths = {path: path for path in (f"/{check_name('pages', page)}.php" for page in pages)}
    locations = []
    for path, script in {"/": next(iter(paths)), **paths}.items():
        locations += block(f"location = {path}", [f"set $script {script};", *passed])
    server = block("server", [f"listen {listen} backlog={process.backlog};", *locations, "location / { return 404; }"])
    http = block("http", [*http_directives(name), *serving.directives(name), *server])
    return process.service(name, ["\n".join(http)], listen.url)


@dataclass(frozen=True)
class PhpSection(Section):
    """PHP-FPM behind an nginx, before a MariaDB, all on one host."""

    children: Children = 8
    """``pm.max_children``: how many requests it works on at once."""

    page: Page = field(default_factory=Page)
    """What each request does."""

    rows: Rows = 1000
    """Rows of the database's table, at least one for each query of the page."""

    def _broken_rules(self) -> Iterator[ValueRuleError]:
        if 1 <= self.rows < self.page.queries:  # where a query finds no row the database does not sleep
            rule = f"at most {self.rows}, the number of rows, because each query is for another row"
            yield ValueRuleError("page.queries", rule, self.page.queries)


def start_php(children: int, rows: int, page: Callable[[MariaDb], str], host: ServerHost) -> ServerGroup:
    """Return a MariaDB with so many rows, a PHP-FPM with so many children that serves one page, and its nginx."""
    database = MariaDb(f"{host.name}-db", rows, connections=children + _SPARE_CONNECTIONS)
    php = PhpFpm(f"{host.name}-php", children, *host.programs.php())
    process = nginx_process(Process(), host.connections, host.programs)
    front = php_front_service(host.name, host.listen, php, process, Serving(), ["page"])
    return host.group(mariadb_service(database), php_service(php, {"page": page(database)}), front)


PHP = Server(
    "php",
    "PHP-FPM behind an nginx, before a MariaDB.",
    PhpSection,
    lambda section, host: start_php(section.children, section.rows, section.page.text, host),
    require=lambda section, programs: programs.php(),
    # Waits of the database, and 1 µs for each round of SHA-1.
    work_s=lambda section: section.page.queries * section.page.wait_ms / 1000 + section.page.steps / 1e6,
)


_WORDPRESS_PAGE = """\
<?php
define('ABSPATH', '/usr/share/wordpress/');
define('DB_NAME', '{database}');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', '{host}');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', '{home}');
define('WP_SITEURL', '{home}');
// The same work for each request, and nothing that leaves this host.
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEFAULT_THEME', 'twentytwentyone');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $use) {{
    define($use . '_KEY', 'of the laboratory');
    define($use . '_SALT', 'of the laboratory');
}}
$table_prefix = 'wp_';
mysqli_report(MYSQLI_REPORT_OFF);
$db = mysqli_init();
if (!@mysqli_real_connect($db, {connect})) {{
    http_response_code(503);
    exit('no database');
}}
$there = mysqli_num_rows(mysqli_query($db, "SHOW TABLES LIKE 'wp_lab_ready'"));
mysqli_close($db);
if (!$there) {{
    function wp_new_blog_notification() {{}}  // it would send a mail
    define('WP_INSTALLING', true);
    require ABSPATH . 'wp-settings.php';
    require ABSPATH . 'wp-admin/includes/upgrade.php';
    // It would ask itself whether addresses can be rewritten.
    add_filter('pre_http_request', fn() => new WP_Error('lab'));
    wp_install('Laboratory', 'lab', 'lab@example.test', true, '', 'lab');
    $wpdb->query('CREATE TABLE wp_lab_ready (id INT)');
    http_response_code(503);
    exit('written');
}}
define('WP_USE_THEMES', true);
require ABSPATH . 'wp-settings.php';
{wait}wp();
require ABSPATH . WPINC . '/template-loader.php';
"""


def wordpress_page(database: MariaDb, home: Endpoint, wait_ms: int = 0) -> str:
    """Return the PHP text of WordPress's front page, for `php_service`.

    WordPress redirects requests for another address than `home`.  The database sleeps once for each request, `wait_ms`
    >= 0.
    """
    listen = database.listen
    # WordPress needs an absolute path; PHP runs a page in the page's folder.
    socket = f"/proc/self/cwd/../{database.socket}"
    return _WORDPRESS_PAGE.format(
        database=DATABASE,
        host=listen or f"localhost:{socket}",
        connect=f"'{listen.address}', 'root', '', '{DATABASE}', {listen.port}"
        if listen
        else f"null, 'root', '', '{DATABASE}', null, '{socket}'",
        home=check_endpoint("home", home).url.rstrip("/"),
        wait=f"$wpdb->query('SELECT SLEEP({wait_ms / 1000})');\n" if wait_ms else "",
    )


@dataclass(frozen=True)
class WordpressSection(Section):
    """WordPress' front page, by PHP-FPM and MariaDB on one host."""

    children: Children = 8
    """``pm.max_children``: how many requests it works on at once."""

    wait_ms: Annotated[int, Range(0, 10_000, unit="ms")] = 0
    """How long the database sleeps once for each request, as for a slow query."""


def _start_wordpress(section: WordpressSection, host: ServerHost) -> ServerGroup:
    return start_php(section.children, 1, lambda database: wordpress_page(database, host.listen, section.wait_ms), host)


def _require_wordpress(_: WordpressSection, programs: Programs) -> None:
    programs.wordpress()
    programs.php()


WORDPRESS = Server(
    "wordpress",
    "WordPress behind an nginx, before a MariaDB.",
    WordpressSection,
    _start_wordpress,
    require=_require_wordpress,
    work_s=lambda section: section.wait_ms / 1000,
)
