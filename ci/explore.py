"""Steps, branches and saves on the page of `seatrial explore`, in a browser that chromedriver steers.

python3 ci/explore.py ADDRESS DRIVER BROWSER FOLDER: writes pictures into FOLDER, and prints the choices on
the way to a violation.
"""

import base64
import json
import subprocess
import sys
import tempfile
import time
import urllib.request

ADDRESS, DRIVER, BROWSER, FOLDER = sys.argv[1:5]
PATIENCE = 20  # seconds
KEYS = {"left": "\ue012", "right": "\ue014", "home": "\ue011", "end": "\ue010"}


class Browser:
    """A session of WebDriver."""

    def __init__(self, driver, binary, profile):
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:  # it says which port it took
            if "started successfully on port" in line:
                break
        else:
            sys.exit("chromedriver does not start")
        self.url = "http://127.0.0.1:" + line.split("port")[1].strip(" .\n") + "/session"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            "--disable-component-update", "--no-first-run", "--hide-scrollbars", f"--user-data-dir={profile}",
        ]
        options = {"goog:chromeOptions": {"binary": binary, "args": arguments}}
        options["goog:loggingPrefs"] = {"browser": "ALL"}
        session = self.call("POST", "", {"capabilities": {"alwaysMatch": options}})
        self.url += "/" + session["sessionId"]

    def call(self, method, path, body=None):
        """Asks the driver."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.read().decode()}")

    def run(self, script, *arguments):
        """Runs a script on the page."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def until(self, script, *arguments):
        """Waits until a script returns something true, and returns that."""
        end = time.monotonic() + PATIENCE
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > end:
                sys.exit(f"never true: {script} {arguments}\n{self.run('return document.body.innerText')}")
            time.sleep(0.05)
        return value

    def press(self, key):
        """Presses a key, as a person does."""
        strokes = [{"type": kind, "value": KEYS[key]} for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def click(self, selector):
        """Clicks on what a selector finds."""
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(found.values()))}/click", {})

    def type(self, selector, text):
        """Types into a field."""
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", f"/element/{next(iter(found.values()))}/value", {"text": text})

    def picture(self, name, width, height, shade="light"):
        """Takes a picture."""
        media = [{"name": "prefers-color-scheme", "value": shade}]
        for command, params in (
            ("Emulation.setEmulatedMedia", {"features": media}),
            ("Emulation.setDeviceMetricsOverride",
             {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}),
        ):
            self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": params})
        self.run("dispatchEvent(new Event('resize'))")
        time.sleep(0.3)
        shot = self.call("GET", "/screenshot")
        with open(f"{FOLDER}/{name}.png", "wb") as file:
            file.write(base64.b64decode(shot))

    def close(self):
        """Ends browser and driver."""
        self.call("DELETE", "")
        self.process.terminate()
        self.process.wait()


def at(browser):
    """How many steps were taken, of how many."""
    taken, _, all_ = browser.run("return document.getElementById('at').textContent").split(" ")
    return int(taken), int(all_)


def is_at(browser, step):
    browser.until("return document.getElementById('at').textContent.startsWith(arguments[0] + ' of ')", str(step))


def steps(browser):
    """Steps forth and back, by keys and by clicks."""
    browser.until("return document.querySelectorAll('.row').length > 3")
    assert at(browser)[0] == 0
    browser.press("right")
    browser.press("right")
    is_at(browser, 2)
    state = browser.run("return document.getElementById('states').innerText")
    browser.press("left")
    is_at(browser, 1)
    assert state and state != browser.run("return document.getElementById('states').innerText"), state
    browser.press("end")
    is_at(browser, at(browser)[1])
    assert browser.run("return document.getElementById('who').textContent") == "The end"
    browser.press("home")
    is_at(browser, 0)
    browser.click("#forth")
    is_at(browser, 1)
    browser.run("document.querySelector('.row[data-step=\"2\"]').click()")
    is_at(browser, 3)


def branches(browser):
    """Chooses another thread, at the latest step where this leads to a violation."""
    before = browser.run("return document.getElementById('witness').textContent")
    assert not browser.run("return document.getElementById('verdict').className"), "it held so far"
    for step in reversed(range(at(browser)[1])):
        browser.run("go(arguments[0])", step)
        is_at(browser, step)
        others = "#next button:not(.taken):enabled"
        for number in range(browser.run("return document.querySelectorAll(arguments[0]).length", others)):
            browser.run("document.querySelectorAll(arguments[0])[arguments[1]].click()", others, number)
            is_at(browser, step + 1)
            browser.until("return document.getElementById('witness').textContent !== arguments[0]", before)
            if browser.run("return document.getElementById('verdict').className") == "bad":
                return
            browser.run("history.back()")
            browser.until("return document.getElementById('witness').textContent === arguments[0]", before)
            browser.run("go(arguments[0])", step)
    sys.exit("no other thread leads to a violation")


def saves(browser):
    """Saves what is shown."""
    browser.type("#name", "by_hand")
    browser.click("#save button")
    link = browser.until("return document.querySelector('#saved a')?.href")
    assert link.startswith("vscode://file/") and ":" in link, link
    browser.type("#name", "/../..")
    browser.click("#save button")
    assert browser.run("return document.querySelector('#name').matches(':invalid')"), "no name for a file"


def main():
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(DRIVER, BROWSER, profile)
        try:
            browser.call("POST", "/url", {"url": ADDRESS})
            steps(browser)
            branches(browser)
            saves(browser)
            browser.run("document.querySelector('#name').value = 'by_hand'")
            browser.picture("wide-light", 1100, 600)
            browser.picture("wide-dark", 1100, 600, "dark")
            browser.picture("narrow-light", 420, 1150)
            errors = [one for one in browser.call("POST", "/se/log", {"type": "browser"}) if one["level"] == "SEVERE"]
            assert not errors, errors
        finally:
            browser.close()


main()
