"""WordPress as Debian packages it, private to a run: its pages come from /usr/share, its contents from a `MariaDb`.

It does not use Debian's configuration, which needs files in /etc: a page of the laboratory names the database and then
does what WordPress's ``index.php`` does.  The first request writes the tables and gets a response with status 503.
"""

from dataclasses import dataclass
from typing import Annotated

from loadcurve.lab.hosts.tools import PackageFile
from loadcurve.lab.servers.mariadb import DATABASE, MariaDb
from loadcurve.lab.servers.php import Children, start_php
from loadcurve.lab.servers.server import Server, ServerGroup, ServerHost
from loadcurve.lab.servers.settings import Endpoint, check_endpoint
from loadcurve.study.section import Range, Section

PAGES = PackageFile("wordpress", "/usr/share/wordpress/wp-load.php", "has the pages of WordPress")
THEME = PackageFile(
    "wordpress-theme-twentytwentyone",
    "/usr/share/wordpress/wp-content/themes/twentytwentyone",
    "has the theme of the front page",
)

_PAGE = """\
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

    Parameters
    ----------
    database : MariaDb
        Where its contents are.
    home : Endpoint
        Its address: WordPress redirects requests for another address to this one.
    wait_ms : int
        How long the database sleeps once for each request, >= 0.
    """
    listen = database.listen
    # WordPress needs an absolute path; PHP runs a page in the page's folder.
    socket = f"/proc/self/cwd/../{database.socket}"
    return _PAGE.format(
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


def _start(section: WordpressSection, host: ServerHost) -> ServerGroup:
    return start_php(section.children, 1, lambda database: wordpress_page(database, host.listen, section.wait_ms), host)


WORDPRESS = Server(
    "wordpress",
    "WordPress behind an nginx, before a MariaDB.",
    WordpressSection,
    _start,
    require=lambda section, programs: programs.php(),
    work_s=lambda section: section.wait_ms / 1000,
)
