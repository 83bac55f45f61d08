"""The Python client against the simulated server: create, list, patch, watch, leader election."""
import threading
import time

from kubernetes import client, config, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

config.load_kube_config()
core, apps = client.CoreV1Api(), client.AppsV1Api()

def config_map(name, value):
    return {"metadata": {"name": name, "labels": {"app": "x"}}, "data": {"key": value}}

for name in ("a", "b"):
    core.create_namespaced_config_map("default", config_map(name, "1"))
listed = core.list_namespaced_config_map("default", label_selector="app=x")
assert [item.metadata.name for item in listed.items] == ["a", "b"], listed
page = core.list_namespaced_config_map("default", label_selector="app=x", limit=1)
assert len(page.items) == 1 and page.metadata._continue, page
try:
    core.create_namespaced_config_map("default", config_map("a", "2"))
    raise AssertionError("the same name twice")
except client.ApiException as error:
    assert error.status == 409, error

version = listed.metadata.resource_version
core.patch_namespaced_config_map("a", "default", {"data": {"key": "2"}})
core.delete_namespaced_config_map("b", "default")
seen = []
for event in watch.Watch().stream(
    core.list_namespaced_config_map, "default", resource_version=version, timeout_seconds=5
):
    seen.append((event["type"], event["object"].metadata.name))
    if len(seen) == 2:
        break
assert seen == [("MODIFIED", "a"), ("DELETED", "b")], seen

labels = {"app": "web"}
apps.create_namespaced_deployment("default", {
    "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}},
})
for event in watch.Watch().stream(apps.list_namespaced_deployment, "default", timeout_seconds=20):
    if event["object"].status.available_replicas == 2:
        break
else:
    raise AssertionError("the deployment never became available")

led = threading.Event()
lock = ConfigMapLock("lock", "default", "me")
settings = electionconfig.Config(
    lock, lease_duration=4, renew_deadline=3, retry_period=1, onstarted_leading=led.set,
    onstopped_leading=None,
)
threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
assert led.wait(15), "nobody leads"
record = core.read_namespaced_config_map("lock", "default").metadata.annotations
assert "me" in str(record), record
print("the Python client found everything")
