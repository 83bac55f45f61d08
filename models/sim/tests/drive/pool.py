"""A controller of pools: as many Secrets as a pool asks for, and a ConfigMap with the rest of its specification.

pool.py WORD: `keeps` never deletes a Secret, `ignores` does not read the colour, `dies` of a weight that is no number.
"""

import http.client
import json
import re
import sys
import time

import controller

WORD = sys.argv[1]
POOLS = "/apis/example.com/v1/namespaces/default/pools"


def done(*request):
    """Tries until the server has done it, or there is nothing to do."""
    while True:
        try:
            status, answer = controller.ask(*request)
            if status in (200, 201, 404, 409):
                return answer
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)


def weight(text):
    try:
        return int(text)
    except ValueError:
        if WORD == "dies":
            raise
        return 0


def reconcile(pool):
    name, spec = pool["metadata"]["name"], pool["spec"]
    data = {"colour": "any" if WORD == "ignores" else spec["colour"], "weight": str(weight(spec["weight"]))}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    path = f"{controller.ROOT}/configmaps/{name}?fieldManager=pool&force=true"
    done("PATCH", path, made, "application/apply-patch+yaml")
    names = [it["metadata"]["name"] for it in done("GET", f"{controller.ROOT}/secrets")["items"]]
    own = [it for it in names if re.fullmatch(rf"{name}-\d+", it)]
    wanted = [f"{name}-{index}" for index in range(spec["size"])]
    for missing in set(wanted) - set(own):
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": missing}}
        done("POST", f"{controller.ROOT}/secrets", secret)
    for extra in set() if WORD == "keeps" else set(own) - set(wanted):
        done("DELETE", f"{controller.ROOT}/secrets/{extra}")


def follow():
    found = done("GET", POOLS)
    for pool in found["items"]:
        reconcile(pool)
    made, headers = controller.connection()
    version = found["metadata"]["resourceVersion"]
    made.request("GET", f"{POOLS}?watch=1&resourceVersion={version}", headers=headers)
    answer = made.getresponse()
    while line := answer.readline():
        event = json.loads(line)
        if event["type"] == "ERROR":
            return
        if event["type"] != "DELETED":
            reconcile(event["object"])


while True:
    try:
        follow()
    except (OSError, http.client.HTTPException):
        pass
    time.sleep(0.05)
