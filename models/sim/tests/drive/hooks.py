"""A controller that is asked: it converts its kind, which has two versions, labels maps, and refuses some of them.

hooks.py PORT FOLDER: it listens there for a service, with the certificate in the folder.
"""

import base64
import http.client
import http.server
import json
import os
import ssl
import sys
import threading
import time

sys.argv = [sys.argv[0], "good", *sys.argv[1:]]
import controller  # noqa: E402

MAPS = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]}]


def converted(item, version):
    """The size of version `v1` is a text in `v2`."""
    is_new = version.endswith("v2")
    return {**item, "apiVersion": version, "spec": {"size": (str if is_new else int)(item["spec"]["size"])}}


class Hooks(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        answer = {"uid": request["uid"]}
        if self.path.startswith("/convert"):
            items = [converted(it, request["desiredAPIVersion"]) for it in request["objects"]]
            answer.update(result={"status": "Success"}, convertedObjects=items)
        elif self.path.startswith("/label"):
            answer["allowed"] = True
            if "labels" not in request["object"]["metadata"]:
                patch = [{"op": "add", "path": "/metadata/labels", "value": {"app": "x"}}]
                answer.update(patchType="JSONPatch", patch=base64.b64encode(json.dumps(patch).encode()).decode())
        else:
            answer["allowed"] = "bad" not in request["object"].get("data", {})
            answer["status"] = {"message": "no bad maps"}
        body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def hook(kind, path):
    client = {"service": {"namespace": "default", "name": "hooks", "path": path}}
    one = {"name": f"{path[1:]}.example.com", "clientConfig": client, "rules": MAPS, "sideEffects": "None",
           "admissionReviewVersions": ["v1"], "timeoutSeconds": 5}
    return f"{kind}WebhookConfiguration", path[1:], {"webhooks": [one]}


def definition():
    size = lambda kind: {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": kind}}}}}
    versions = [{"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": size(kind)}}
                for name, kind in (("v1", "integer"), ("v2", "string"))]
    client = {"service": {"namespace": "default", "name": "hooks", "path": "/convert"}}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    return {"spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                     "versions": versions, "conversion": {"strategy": "Webhook", "webhook": webhook}}}


POLICY = {"spec": {"matchConstraints": {"resourceRules": MAPS}, "validations": [
    {"expression": "!has(object.data) || !('worse' in object.data)", "message": "no worse maps"}]}}
BINDING = {"spec": {"policyName": "maps", "validationActions": ["Deny"]}}


def install():
    admission = "admissionregistration.k8s.io"
    for group, (kind, name, rest) in [
        ("apiextensions.k8s.io", ("CustomResourceDefinition", "foos.example.com", definition())),
        (admission, hook("Mutating", "/label")),
        (admission, hook("Validating", "/refuse")),
        (admission, ("ValidatingAdmissionPolicy", "maps", POLICY)),
        (admission, ("ValidatingAdmissionPolicyBinding", "maps", BINDING)),
    ]:
        plural = "validatingadmissionpolicies" if kind.endswith("Policy") else kind.lower() + "s"
        item = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": name}, **rest}
        path = f"/apis/{group}/v1/{plural}/{name}?fieldManager=hooks&force=true"
        while True:
            try:
                status, answer = controller.ask("PATCH", path, item, "application/apply-patch+yaml")
                if status < 300:
                    break
                print(status, answer, flush=True)
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)


def secret(foo):
    """Its name tells the size as version `v2` writes it."""
    name, size = foo["metadata"]["name"], foo["spec"]["size"]
    assert isinstance(size, str)
    item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"{name}-{size}"}}
    while True:
        try:
            if controller.ask("POST", f"{controller.ROOT}/secrets", item)[0] in (201, 409):
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)


def foos():
    path = "/apis/example.com/v2/namespaces/default/foos"
    while True:
        try:
            status, found = controller.ask("GET", path)
            if status == 200:
                for item in found["items"]:
                    secret(item)
                made, headers = controller.connection()
                version = found["metadata"]["resourceVersion"]
                made.request("GET", f"{path}?watch=1&resourceVersion={version}", headers=headers)
                answer = made.getresponse()
                while line := answer.readline():
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        break
                    if event["type"] != "DELETED":
                        secret(event["object"])
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.05)


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Hooks)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(sys.argv[3], "tls.crt"), os.path.join(sys.argv[3], "tls.key"))
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
install()
threading.Thread(target=foos, daemon=True).start()
controller.run(False)
