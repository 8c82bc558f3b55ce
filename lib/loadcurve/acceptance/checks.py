"""The checks of an acceptance test of a balancer, each declared once."""

from loadcurve.acceptance import functional, load
from loadcurve.acceptance.check import FUNCTIONS, AcceptanceCheck

_FILE = "HAProxy reads its configuration from a file; nothing is loaded into the kernel"
_SLOW = "IPVS runs in user-mode-linux, which shows functions and no speed"
_ONE_LOOKUP = "it has one way to find a service"

CHECKS = (
    AcceptanceCheck(
        "client_address",
        "Servers see the addresses of their clients.",
        "The servers' access logs name the addresses of both clients and no others.",
        "One foreign address is enough to break access rules and logs.",
        (FUNCTIONS,),
        functional.client_address,
    ),
    AcceptanceCheck(
        "servers_reach_outside",
        "Servers reach hosts outside through the balancer.",
        "A server gets a response from a host that has no route to the servers.",
        "Without a route back, only an address of the balancer can be answered.",
        (FUNCTIONS,),
        functional.outside,
    ),
    AcceptanceCheck(
        "round_robin",
        "Servers take turns.",
        "30 connections in sequence are as even as round robin: counts differ from a third by at most one.",
        "Turns leave no chance: a larger difference is not round robin.",
        (FUNCTIONS,),
        functional.round_robin,
    ),
    AcceptanceCheck(
        "hash_of_address",
        "A client address keeps its server, and addresses are spread evenly.",
        f"None of 36 addresses changes its server, and the chi-square test gives p ≥ {functional.LEAST_P}.",
        "A fair hash fails this by chance in one of 1,000 tests.",
        (FUNCTIONS,),
        functional.hash_of_address,
    ),
    AcceptanceCheck(
        "ten_thousand_services",
        "Ten thousand services can be loaded, and the last one works.",
        "The balancer lists 10,000 services, and the first and the last respond to every request.",
        "The number is that of the published plan.",
        (FUNCTIONS,),
        functional.ten_thousand,
        cannot={"haproxy": "each service would be a listening socket, which the laboratory does not configure"},
    ),
    AcceptanceCheck(
        "export_import",
        "Rules can be saved and restored.",
        "After a flush nothing responds; the rules exported after the import equal those exported before it, as text.",
        "A lost rule is a lost server or service.",
        (FUNCTIONS,),
        functional.export_import,
        cannot={"haproxy": _FILE},
    ),
    AcceptanceCheck(
        "dead_server_taken_out",
        "A server that died gets no more connections, and gets them again when it is back.",
        "At most 3 s after its end all of 12 requests get a response; after its start it responds again.",
        "Checks every 0.2 s (HAProxy) or 0.5 s (keepalived) find a closed port within 1 s; 3 s leaves room.",
        (FUNCTIONS,),
        functional.dead_server,
    ),
    AcceptanceCheck(
        "fail_over",
        "A second balancer takes over the address.",
        f"New connections get a response at most {functional.LONGEST_OUTAGE_S:g} s after the first balancer stopped, "
        "and all from then on.",
        "VRRP with advertisements every 0.2 s needs 0.6 to 0.8 s (RFC 5798: three intervals and the skew).",
        (FUNCTIONS,),
        functional.fail_over,
    ),
    AcceptanceCheck(
        "state_copied",
        "The second balancer knows established connections before it takes over.",
        "It lists the client's connection as established, 1.5 s after the connection began.",
        "IPVS copies a connection from its third packet on (sync_threshold); conntrackd copies each change.",
        (FUNCTIONS,),
        functional.state_copied,
        cannot={"haproxy": "HAProxy ends the client's connection, so no other process can continue it"},
    ),
    AcceptanceCheck(
        "connection_survives",
        "A client's long connection survives the fail-over.",
        f"A download of {functional.LONG_BYTES:,} bytes that began 1.5 s before ends with every byte.",
        "A connection that is not continued ends early: no threshold is needed.",
        (FUNCTIONS,),
        functional.connection_survives,
    ),
    AcceptanceCheck(
        "large_responses",
        "Large responses fill the link.",
        f"Received bytes per second are at least {load.LEAST_BANDWIDTH_RATIO:.0%} of those without the balancer, on "
        "the same link of 200 Mbit/s.",
        "Runs on a rate-limited link differ by less than 0.1 %, so 2 % is far outside their scatter.",
        ("large", "direct_large"),
        load.large_responses,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "small_responses",
        "Small packets pass without loss.",
        f"At most 1 of {1 / load.MOST_LOST_RATIO:,.0f} TCP segments is sent again, and no processor spends over "
        f"{load.LARGEST_SOFTIRQ_RATIO:.0%} of its time in software interrupts.",
        "A processor that only handles interrupts drops packets; a lost segment costs its response 200 ms or more.",
        ("small",),
        load.small_responses,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "response_time",
        "The balancer adds little to the response time.",
        f"At two connections the mean response time is at most {load.LARGEST_ADDED_S * 1e6:g} µs longer than without "
        "it.",
        "A tenth of the round trip of 1 ms that a request takes across a data centre.",
        ("few", "direct_few"),
        load.response_time,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "round_robin_under_load",
        "Servers take turns under load, too.",
        "In every run the balancer's counters are as even as round robin.",
        "As for round_robin; under load, processors deal at the same time.",
        ("short",),
        load.dealt_under_load,
        cannot={"ipvs": _SLOW},
    ),
    AcceptanceCheck(
        "services_in_a_map",
        "Ten thousand services in a map cost nothing.",
        f"New connections per second are at least {load.LEAST_THROUGHPUT_RATIO:.0%} of those with one service.",
        "Five runs of a server limited by its processor show no difference below about 10 %.",
        ("map", "short"),
        load.services_in_a_map,
        cannot={"ipvs": _SLOW, "haproxy": _ONE_LOOKUP},
    ),
    AcceptanceCheck(
        "services_as_rules",
        "Ten thousand services, a rule each, cost nothing.",
        f"New connections per second are at least {load.LEAST_THROUGHPUT_RATIO:.0%} of those with one service.",
        "As for services_in_a_map.",
        ("rules", "short"),
        load.services_as_rules,
        cannot={"ipvs": _SLOW, "haproxy": _ONE_LOOKUP},
    ),
    AcceptanceCheck(
        "no_failed_request",
        "No request fails under load.",
        "No connection error, time-out or error status in any run.",
        "The loads are below the limit of the ports, so every failure is a fault.",
        ("small",),
        load.no_failed_request,
        cannot={"ipvs": _SLOW},
    ),
)
"""All checks, in the order of the report."""
