"""A small controller: each ConfigMap with the label `app` gets a Secret of its name, and is marked as done.

Another label stands behind the word and an `@`. With the word `bug` it marks first, so that a crash in between leaves the Secret out for ever. The other words
are processes that do harm.
"""

import base64
import http.client
import json
import os
import ssl
import subprocess
import signal
import sys
import time
import urllib.parse

ROOT = "/api/v1/namespaces/default"
WORD, _, LABEL = sys.argv[1].partition("@")
LABEL = LABEL or "app"


def in_pod():
    """As client libraries do it within a cluster."""
    assert "KUBECONFIG" not in os.environ and not os.path.exists(os.path.expanduser("~/.kube/config"))
    # What else lies in the folder above is there as well, such as this run.
    assert os.path.exists(os.path.join(sys.argv[2], "controller.kubeconfig"))
    place = "/var/run/secrets/kubernetes.io/serviceaccount"
    with open(place + "/namespace") as file:
        assert file.read() == "here"
    context = ssl.create_default_context(cafile=place + "/ca.crt")
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    made = http.client.HTTPSConnection(host, int(port), context=context)
    with open(place + "/token") as file:
        return made, {"Authorization": "Bearer " + file.read(), "Content-Type": "application/json"}


def connection():
    if WORD.endswith("-in-pod"):
        return in_pod()
    with open(os.environ["KUBECONFIG"]) as file:
        config = json.load(file)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    address = urllib.parse.urlparse(cluster["server"])
    made = http.client.HTTPSConnection(address.hostname, address.port, context=context)
    return made, {"Authorization": "Bearer " + user["token"], "Content-Type": "application/json"}


def ask(method, path, body=None, content="application/json"):
    """Another connection each time: one may have been lost."""
    made, headers = connection()
    headers["Content-Type"] = content
    made.request(method, path, body=json.dumps(body) if body is not None else None, headers=headers)
    answer = made.getresponse()
    return answer.status, json.loads(answer.read())


def mark(name, _):
    patch = {"metadata": {"annotations": {"example.com/done": "true"}}}
    status, _ = ask("PATCH", f"{ROOT}/configmaps/{name}", patch, "application/merge-patch+json")
    return status in (200, 404)


def create(name, uid):
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
    metadata = {"name": name, "ownerReferences": [owner] if WORD == "owner" else []}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {}}
    status, _ = ask("POST", f"{ROOT}/secrets", secret)
    return status in (201, 409)


def reconcile(item, has_bug):
    metadata = item["metadata"]
    if LABEL not in metadata.get("labels", {}) or "example.com/done" in metadata.get("annotations", {}):
        return
    steps = [mark, create] if has_bug else [create, mark]
    for step in steps:
        while True:
            try:
                if step(metadata["name"], metadata["uid"]):
                    break
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)


def watch(version, has_bug):
    made, headers = connection()
    made.request("GET", f"{ROOT}/configmaps?watch=1&resourceVersion={version}", headers=headers)
    answer = made.getresponse()
    while line := answer.readline():
        event = json.loads(line)
        if event["type"] == "ERROR":
            return
        if event["type"] != "DELETED":
            reconcile(event["object"], has_bug)


def run(has_bug):
    while True:
        try:
            status, found = ask("GET", f"{ROOT}/configmaps?resourceVersion=0")
            if status == 200:
                for item in found["items"]:
                    reconcile(item, has_bug)
                watch(found["metadata"]["resourceVersion"], has_bug)
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)


def garbage():
    import socket

    made, _ = connection()
    for _ in range(200):
        try:
            with socket.create_connection((made.host, made.port)) as plain:
                plain.sendall(os.urandom(1000))
        except OSError:
            pass


def main():
    if WORD == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        # One child stays in the group, one leaves it.
        for session in (False, True):
            subprocess.Popen(["sleep", sys.argv[2]], start_new_session=session)
    elif WORD == "noisy":
        for _ in range(2000):
            sys.stdout.write("x" * 10000 + "\n")
        sys.stdout.flush()
    elif WORD == "garbage":
        garbage()
    elif WORD == "restless":
        for number in range(10**9):
            patch = {"data": {"turn": str(number % 7)}}
            ask("PATCH", f"{ROOT}/configmaps/one", patch, "application/merge-patch+json")
            time.sleep(0.01)
    elif WORD == "dying":
        print("the disk is full")
        sys.exit(3)
    elif WORD == "slow":
        # As one that waits for a lease: its second life does nothing for longer than five times the rest.
        lived = os.path.join(sys.argv[2], "lived")
        if os.path.exists(lived):
            ask("GET", f"{ROOT}/configmaps/none")
            time.sleep(5)
        open(lived, "w").close()
    elif WORD == "idle":
        time.sleep(10**6)
    run(WORD == "bug")


if __name__ == "__main__":
    main()
