"""WordPress as Debian packages it, private to a run: its pages come from /usr/share, its contents from a `MariaDb`.

It does not use Debian's configuration, which needs files in /etc: a page of the laboratory names the database and then
does what WordPress's ``index.php`` does.  The first request writes the tables and gets a response with status 503.
"""

from dataclasses import dataclass

from loadcurve.lab.hosts.tools import PackageFile
from loadcurve.lab.servers.mariadb import DATABASE, MariaDb
from loadcurve.lab.servers.php import Children, start_php
from loadcurve.lab.servers.server import Server
from loadcurve.lab.servers.settings import Endpoint, check_endpoint
from loadcurve.section import Section

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
wp();
require ABSPATH . WPINC . '/template-loader.php';
"""


def wordpress_page(database: MariaDb, home: Endpoint) -> str:
    """Return the PHP text of WordPress's front page, for `php_service`.

    Parameters
    ----------
    database : MariaDb
        Where its contents are.
    home : Endpoint
        Its address: WordPress redirects requests for another address to this one.
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
    )


@dataclass(frozen=True)
class WordpressSection(Section):
    """WordPress' front page, by PHP-FPM and MariaDB on one host."""

    children: Children = 8
    """``pm.max_children``: how many requests it works on at once."""


WORDPRESS = Server(
    "wordpress",
    "WordPress behind an nginx, before a MariaDB.",
    WordpressSection,
    lambda section, host: start_php(section.children, 1, lambda database: wordpress_page(database, host.listen), host),
    require=lambda section, programs: programs.php(),
)
