"""Parses the metrics of a server in both formats with the parsers of Prometheus' Python client.

usage: metrics_formats.py URL HOST
"""

import sys
import urllib.request

from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

OPEN_METRICS = "application/openmetrics-text"


def families(url: str, host: str, accept: str, content_type: str, parse) -> dict:
    request = urllib.request.Request(url, headers={"Accept": accept, "Host": host})
    with urllib.request.urlopen(request) as reply:
        assert reply.headers["Content-Type"].startswith(content_type), reply.headers["Content-Type"]
        return {family.name: family for family in parse(reply.read().decode())}


def main() -> None:
    url, host = sys.argv[1:]
    text = families(url, host, "text/plain", "text/plain; version=0.0.4", parser.text_string_to_metric_families)
    open_metrics = families(
        url, host, f"{OPEN_METRICS};version=1.0.0", OPEN_METRICS, openmetrics.text_string_to_metric_families
    )
    # The parser of the text format takes `_total` off the names of counters, too.
    assert set(text) == set(open_metrics), set(text) ^ set(open_metrics)
    requests = text["pressmark_mcp_requests"]
    assert sum(sample.value for sample in requests.samples if sample.name.endswith("_total")) > 0, requests
    assert {"pressmark_build_info", "process_cpu_seconds", "process_open_fds"} <= set(text), sorted(text)
    print(f"{len(text)} families in both formats")


main()
