"""Grafana's dashboard and Prometheus' rules in deploy/, held to what a running server tells at `/metrics`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.e2e.conftest import Server

from duologue.telemetry import Metrics

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "duologue.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
BY_PROMETHEUS = {"instance", "job"}
"""Labels that every series gets when it is scraped."""
NOT_MADE_HERE = {
    "duologue_connection_bounds": "a connection that misbehaves",
    "duologue_decoder_jobs": "a file that is read",
    "duologue_gpu_memory_bytes": "a graphics card",
    "duologue_model_unloads": "a model that is unloaded",
    "duologue_scalings": "workers by the length of the queue",
    "duologue_sound_gap_seconds": "a call with a voice that is too slow",
}
"""Metrics of which this test's server has no sample, and what they would need. Their labels are those of the registry."""
VARIABLES = {"$model": ".*", "$kind": ".*", "$instance": ".*", "$__rate_interval": "5m"}
SELECTOR = re.compile(r"\b(duologue_\w+)\s*(\{[^}]*\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
GROUPING = re.compile(r"\bby \(([^)]*)\)")
UNITS = {"short", "s", "percentunit", "bool", "cps", "reqps", "bytes"}


@pytest.fixture(scope="module")
def labels(lasting: Callable[..., Server]) -> dict[str, set[str]]:
    """The labels of each metric of a server that has done a little of everything; of a histogram, of its parts."""
    server = lasting("--engine", "scripted").ready()
    use(server)
    text = httpx.get(f"{server.url}/metrics", timeout=60).text
    found: dict[str, set[str]] = {}
    without_samples = set()
    for family in text_string_to_metric_families(text):
        if not family.samples:
            without_samples.add(family.name)
        for one in family.samples:
            found.setdefault(one.name, set()).update(one.labels)
    assert without_samples == NOT_MADE_HERE.keys()
    for name, own in Metrics().labels.items():
        if name.removesuffix("_total") in without_samples:
            found[name] = set(own)
            if name.endswith("_seconds"):
                found |= {f"{name}_bucket": {*own, "le"}, f"{name}_sum": {*own}, f"{name}_count": {*own}}
    return found


def use(server: Server) -> None:
    """Make samples: a reply, a failure, a batch, a refused request, a restarted worker."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for text in ("/say hello you", "/fail it"):
            client.post("/v1/chat/completions", json={"messages": [{"role": "user", "content": text}]})
        client.post("/v1/chat/completions", json={"messages": "no"})
        body = {"messages": [{"role": "user", "content": "/say hello"}]}
        line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
        files = {"file": ("lines.jsonl", json.dumps(line).encode())}
        file = client.post("/v1/files", data={"purpose": "batch"}, files=files).json()["id"]
        batch = client.post(
            "/v1/batches",
            json={"input_file_id": file, "endpoint": line["url"], "completion_window": "24h"},
        ).json()["id"]
        server.until(lambda: client.get(f"/v1/batches/{batch}").json()["status"] == "completed")
        client.post("/api/admin/workers/worker_0/restart").raise_for_status()
        server.until(lambda: client.get("/ready").status_code == 200)


def queries() -> Iterator[tuple[str, str, list[str]]]:
    """Every query of the files: where it is, its text, and the labels that its legend shows."""
    for panel in PANELS:
        for target in panel.get("targets", ()):
            legend = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
            yield f"panel {panel['title']!r}", target["expr"], legend
    for rule in rules():
        texts = " ".join(rule["annotations"].values())
        yield f"alert {rule['alert']}", rule["expr"], re.findall(r"\$labels\.(\w+)", texts)


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]


@pytest.mark.system
def test_every_metric_and_label_of_the_queries_is_told_by_a_running_server(labels: dict[str, set[str]]):
    wrong = []
    for where, query, shown in queries():
        own: set[str] = set()
        for metric, matchers in SELECTOR.findall(query):
            if metric not in labels:
                wrong.append(f"{where}: there is no {metric}")
                continue
            own |= labels[metric]
            unknown = set(MATCHER.findall(matchers)) - labels[metric] - BY_PROMETHEUS
            wrong += [f"{where}: {metric} has no label {name}" for name in unknown]
        groups = [{name.strip() for name in group.split(",")} for group in GROUPING.findall(query)]
        left = set.intersection(*groups) if groups else own | BY_PROMETHEUS
        grouped = set().union(*groups)
        wrong += [f"{where}: no metric has {name}" for name in grouped - own - BY_PROMETHEUS]
        wrong += [f"{where}: {name} is shown, and grouped away" for name in set(shown) - left]
    assert not wrong, "\n".join(wrong)


def test_the_dashboard_shows_every_metric():
    told = {match for _, query, _ in queries() for match, _ in SELECTOR.findall(query)}
    names = re.findall(r"^# TYPE (\w+) (\w+)", Metrics().render()[0].decode(), re.MULTILINE)
    assert len(names) > 25
    missing = [
        name
        for name, kind in names
        if not told & ({f"{name}_bucket", f"{name}_count"} if kind == "histogram" else {name})
    ]
    assert missing == []


def test_the_variables_of_the_dashboard_are_those_that_its_queries_use():
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(PANELS)))
    own = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    assert used - {"__rate_interval"} == own


def test_the_panels_have_places_of_their_own_and_what_grafana_needs():
    taken: set[tuple[int, int]] = set()
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
        if panel["type"] == "row":
            continue
        assert panel["type"] in ("timeseries", "stat")
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        assert all(target["datasource"] == panel["datasource"] for target in panel["targets"])
    assert DASHBOARD["schemaVersion"] >= 36
    assert "id" not in DASHBOARD, "Grafana gives it one when it is imported"


def test_every_alert_says_what_is_wrong_and_what_to_do_and_is_tried():
    tried = (DEPLOY / "prometheus" / "alerts_test.yml").read_text("utf-8")
    assert len(rules()) > 10
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["alert"] in tried, rule["alert"]


# ---- by Prometheus' own tool


@pytest.fixture
def promtool() -> Callable[..., str]:
    """Run promtool; gives what it printed. It must succeed."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed (on Debian and Ubuntu: apt install prometheus)")

    def run(*arguments: str, folder: Path = RULES.parent) -> str:
        ended = subprocess.run(
            [program, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    return run


def test_promtool_accepts_the_rules_and_the_configuration(promtool: Callable[..., str]):
    promtool("check", "rules", "alerts.yml")
    promtool("check", "config", "prometheus.yml")
    # The key is a file of the container.
    promtool("check", "config", "--syntax-only", "prometheus-compose.yml")


def test_promtool_sees_each_alert_fire_when_it_should_and_only_then(promtool: Callable[..., str]):
    assert "SUCCESS" in promtool("test", "rules", "alerts_test.yml")


def test_promtool_can_read_every_query_of_the_dashboard(promtool: Callable[..., str], tmp_path: Path):
    recorded = []
    for number, (_, query, _) in enumerate(queries()):
        for variable, value in VARIABLES.items():
            query = query.replace(variable, value)
        assert "$" not in query
        recorded.append({"record": f"query:{number}", "expr": query})
    file = tmp_path / "queries.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": recorded}]}))
    promtool("check", "rules", str(file))


@pytest.mark.system
def test_promtool_finds_nothing_to_object_to_in_the_metrics(
    promtool: Callable[..., str], lasting: Callable[..., Server]
):
    server = lasting("--engine", "scripted").ready()
    text = httpx.get(f"{server.url}/metrics", timeout=60).text
    ended = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.stdout + ended.stderr).strip() == ""
