//! `drive`: small controllers as processes, and processes that do harm.

#![cfg(unix)]

mod operations;

use std::path::{Path, PathBuf};
use std::time::Duration;

use seatrial_sim::drive::{Act, Drive, Report, Stated};
use serde_json::json;

/// A folder of a test, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("seatrial-drive-{}-{name}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// The command that runs a script beside this file.
fn command(script: &str, words: &[&str]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive").join(script);
    let words = words.iter().map(|it| (*it).to_owned());
    ["python3".to_owned(), script.to_string_lossy().into_owned()].into_iter().chain(words).collect()
}

fn drive(folder: &Folder, words: &[&str]) -> Drive {
    let command = command("controller.py", words);
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": "x"}}});
    let two = serde_json::from_value(json!({"apply": map("two")})).expect("it is a step");
    let done = json!({"kind": "ConfigMap", "name": "two", "at": "/metadata/annotations/example.com~1done"});
    let done = serde_json::from_value(json!({"wait": done})).expect("it is a step");
    let steps: [Act; 2] = [two, done];
    let drive = Drive::new(&folder.0).process("controller", command).given([map("one")]);
    drive.steps(steps).rest(Duration::from_millis(700))
}

fn check(drive: Drive) -> Report {
    drive.check(&|_| {}).expect("the campaign can run")
}

#[test]
fn a_correct_controller_holds_under_crashes_stale_restarts_and_chance() {
    let folder = Folder::new("good");
    let report = check(drive(&folder, &["good"]).random(4, 1).jobs(4));
    assert_eq!(report.exit_code(), 0, "{report}");
    assert!(report.plans >= 8 && report.held == report.plans, "{report}");
}

#[test]
fn a_controller_that_marks_too_early_is_convicted_by_one_crash() {
    let folder = Folder::new("bug");
    let report = check(drive(&folder, &["bug"]).random(0, 1).jobs(4));
    assert_eq!(report.exit_code(), 100, "{report}");
    let finding = &report.found[0];
    assert_eq!(finding.seen, (5, 5), "{report}");
    assert!(finding.plan.to_string().starts_with("crash("), "{report}");
    assert!(finding.violations[0].text[0].contains("secrets default/"), "{report}");
    let plan = finding.plan.to_string();
    let again = check(drive(&folder, &["bug"]).replay(&plan).expect("it is a plan"));
    assert_eq!((again.exit_code(), again.planned), (100, 1), "{again}");
}

/// Two controllers, each with a label of its own.
fn two(folder: &Folder, words: [&str; 2], plan: &str) -> Report {
    let map = |name: &str, label: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {label: "x"}}});
    let apply = |it| serde_json::from_value(json!({"apply": it})).expect("it is a step");
    let steps: [Act; 2] = [apply(map("one", "app")), apply(map("two", "beta"))];
    let drive = Drive::new(&folder.0).steps(steps).rest(Duration::from_millis(700));
    let drive = drive
        .process("a", command("controller.py", &words[..1]))
        .process("b", command("controller.py", &words[1..]));
    check(drive.replay(plan).expect("it is a plan"))
}

#[test]
fn a_fault_strikes_the_process_that_it_names_by_its_own_writes() {
    let folder = Folder::new("two");
    // The first write of each is the mark of its map, and the second its Secret.
    let words = ["bug", "bug@beta"];
    for (plan, lost, kept) in [("crash(b,1)", "two", "one"), ("crash(a,1)", "one", "two")] {
        let report = two(&folder, words, plan);
        assert_eq!(report.exit_code(), 100, "{report}");
        let text = report.found[0].violations[0].text.join("\n");
        assert!(text.contains(&format!("secrets default/{lost}")), "{report}");
        assert!(!text.contains(&format!("secrets default/{kept}")), "{report}");
    }
    let report =
        two(&folder, ["good", "good@beta"], "crash(b,2) stale(a,configmaps,1,2) lost(a,2)");
    assert_eq!((report.exit_code(), report.held), (0, 1), "{report}");
    for plan in ["crash(c,1)", "crash(1)"] {
        let report = two(&folder, ["good", "good@beta"], plan);
        assert!(report.to_string().contains(&format!("{plan} strikes nothing")), "{report}");
    }
}

/// What is wrong with a process without any fault.
fn wrong(name: &str, words: &[&str], limit: Duration) -> String {
    let folder = Folder::new(name);
    // Too long for any of them to come to rest, however slow the machine is.
    let report = check(drive(&folder, words).rest(Duration::from_secs(3_600)).limit(limit));
    assert_eq!(report.exit_code(), 100, "{report}");
    assert!(report.found[0].plan.faults.is_empty(), "{report}");
    report.to_string()
}

#[test]
fn a_process_that_never_rests_or_dies_again_and_again_is_told_of() {
    let report = wrong("restless", &["restless"], Duration::from_secs(1));
    assert!(report.contains("does not come to rest within 1 s"), "{report}");
    // Long enough for five lives on any machine: it ends with the fifth.
    let report = wrong("dying", &["dying"], Duration::from_secs(3600));
    assert!(report.contains("exit status: 3") && report.contains("the disk is full"), "{report}");
    assert!(report.contains("5 times"), "{report}");
}

#[test]
fn noise_and_garbage_change_no_verdict() {
    for word in ["noisy", "garbage"] {
        let folder = Folder::new(word);
        let report = check(drive(&folder, &[word]).random(0, 1).at_most(2));
        assert_eq!((report.exit_code(), report.held), (0, 2), "{report}");
    }
}

/// The processes that have this word among their arguments.
#[cfg(target_os = "linux")]
fn left(word: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let commands = entries.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    let words = |it: &Vec<u8>| it.split(|it| *it == 0).any(|it| it == word.as_bytes());
    commands.filter(words).count()
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_process_that_forks_and_ignores_signals() {
    let folder = Folder::new("stubborn");
    // Nobody else sleeps for this time.
    let word = format!("{}.25", 100_000 + std::process::id());
    let report = check(drive(&folder, &["stubborn", &word]).random(0, 1).at_most(2));
    assert_eq!((report.exit_code(), report.held), (0, 2), "{report}");
    assert_eq!(left(&word), 0);
}

/// Whether something comes true before something else ends, however long that takes.
#[cfg(target_os = "linux")]
fn comes_true(is_so: impl Fn() -> bool, mut has_ended: impl FnMut() -> bool) -> bool {
    while !is_so() {
        if has_ended() {
            return is_so();
        }
        std::thread::sleep(Duration::from_millis(20)); // only so as not to ask all the time
    }
    true
}

/// What the next test starts and kills: the same program with this variable.
#[cfg(target_os = "linux")]
const VICTIM: &str = "SEATRIAL_DRIVE_VICTIM";

#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_campaign_that_is_killed() {
    let test = "nothing_is_left_of_a_campaign_that_is_killed";
    if let Ok(word) = std::env::var(VICTIM) {
        let folder = Folder::new("victim");
        // It never rests, so that it is surely killed.
        let drive = drive(&folder, &["stubborn", &word]).rest(Duration::from_secs(3_600));
        drop(drive.limit(Duration::from_secs(86_400)).check(&|_| {}));
        return;
    }
    let word = format!("{}.5", 100_000 + std::process::id());
    let mut victim = std::process::Command::new(std::env::current_exe().expect("this test"));
    let victim =
        victim.args([test, "--exact"]).env(VICTIM, &word).stdout(std::process::Stdio::null());
    let mut victim = victim.spawn().expect("it runs");
    // Three runs without faults, each with a controller and two that sleep.
    let has_begun = comes_true(|| left(&word) >= 9, || !matches!(victim.try_wait(), Ok(None)));
    victim.kill().expect("it is there");
    victim.wait().expect("it has ended");
    // The guard has this among its arguments.
    let mark = format!("seatrial-{}-0-", victim.id());
    let is_over = comes_true(|| left(&word) == 0, || left(&mark) == 0);
    assert!(has_begun && is_over, "begun: {has_begun}, over: {is_over}");
}

#[test]
fn garbage_is_collected_late_by_a_fault_also_among_the_controllers_of_a_cluster() {
    let folder = Folder::new("late");
    let delete = json!({"delete": {"kind": "ConfigMap", "name": "two"}});
    let delete: Act = serde_json::from_value(delete).expect("it is a step");
    // Two changes for each map beside its creation; then the deletion is the sixth.
    let drive = drive(&folder, &["owner"]).steps([delete]).controllers();
    let report = check(drive.replay("uncollected(6,12)").expect("it is a plan"));
    assert_eq!((report.exit_code(), report.held), (0, 1), "{report}");
    assert!(report.elapsed >= Duration::from_secs(12), "it is waited for: {report}");
}

#[test]
fn a_run_goes_on_until_the_controller_has_seen_what_a_silence_has_hidden() {
    let folder = Folder::new("silent");
    let three = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "three", "labels": {"app": "x"}}});
    let three: Act = serde_json::from_value(json!({"apply": three})).expect("it is a step");
    // Two changes for the first map, three for the second. The silence is longer than five times the rest.
    let drive = drive(&folder, &["good"]).steps([three]);
    let report = check(drive.replay("silent(configmaps,6,6)").expect("it is a plan"));
    assert_eq!((report.exit_code(), report.held), (0, 1), "{report}");
    assert!(report.elapsed >= Duration::from_secs(6), "it is waited for: {report}");
}

#[test]
fn a_life_that_begins_its_work_late_has_time_for_it() {
    let folder = Folder::new("slow");
    let slow = drive(&folder, &["slow", "{dir}"]).replay("crash(1)").expect("it is a plan");
    let report = check(slow);
    assert_eq!((report.exit_code(), report.held), (0, 1), "{report}");
}

const ROLE: &str = "kind: ClusterRole
metadata: {name: controller}
rules:
- {apiGroups: [''], resources: [configmaps], verbs: [list, watch, patch]}
- {apiGroups: [''], resources: [secrets], verbs: [create, delete]}
";

#[test]
fn a_role_that_suffices_holds_and_what_is_missing_or_unused_is_named() {
    let folder = Folder::new("role");
    let few = |it: Drive| it.random(0, 1).at_most(2).jobs(2);
    let role = |role: &str| few(drive(&folder, &["good"])).role(role).expect("it is a role");
    let report = check(role(ROLE));
    assert_eq!(report.exit_code(), 0, "{report}");
    let rights = report.rights.expect("it has roles");
    assert_eq!((rights.missing, rights.unused), (vec![], vec!["delete secrets".to_owned()]));
    let report = check(role(&ROLE.replace("create, delete", "delete")));
    assert_eq!(report.exit_code(), 100, "{report}");
    assert!(report.found[0].plan.faults.is_empty(), "{report}");
    assert!(report.to_string().contains("create secrets in default, for: "), "{report}");
    let smallest = report.rights.expect("it has roles").smallest;
    assert_eq!(check(role(&smallest)).exit_code(), 0, "{smallest}");
    assert!(few(drive(&folder, &["good"])).role("kind: Nothing").is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_finds_the_server_as_in_a_pod() {
    if !may_be_as_in_a_pod() {
        return;
    }
    // The credentials lie in `/run` as well, if this user may write there.
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).into_iter();
    let name = format!("seatrial-drive-{}-pod", std::process::id());
    let places = own.chain(["/run".into(), std::env::temp_dir()]).map(|it| it.join(&name));
    let is_made = |it: &PathBuf| std::fs::create_dir_all(it).is_ok();
    let folder = Folder(places.into_iter().find(is_made).expect("there is a place"));
    let few = drive(&folder, &["good-in-pod", "{dir}"]).random(0, 1).at_most(2).jobs(2);
    let report = check(few.in_cluster("here"));
    assert_eq!((report.exit_code(), report.held), (0, 2), "{report}");
    let mode = std::fs::metadata(folder.0.join("reference-1")).expect("it is there").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o77, 0, "nobody else reads it");
}

/// Not every machine allows it. A test that is left out says so.
#[cfg(target_os = "linux")]
fn may_be_as_in_a_pod() -> bool {
    let mut tried = std::process::Command::new("unshare");
    let is_allowed = tried.args(["--map-root-user", "--mount", "true"]).status();
    let is_allowed = is_allowed.is_ok_and(|it| it.success());
    if !is_allowed {
        println!("left out: `unshare` is not allowed here, so no process can be as in a pod");
    }
    is_allowed
}

#[cfg(target_os = "linux")]
#[test]
fn a_mistyped_command_is_an_error_also_as_in_a_pod() {
    if !may_be_as_in_a_pod() {
        return;
    }
    let folder = Folder::new("mistyped");
    for word in ["no-such-program", "/no/such/program"] {
        let none = Drive::new(&folder.0).process("it", vec![word.to_owned()]).in_cluster("here");
        let error = none.check(&|_| {}).expect_err("there is no such program").to_string();
        assert!(error.contains(&format!("{word} cannot be started: No such file")), "{error}");
    }
}

#[test]
fn rules_of_ones_own_are_asked_in_each_run() {
    let folder = Folder::new("rules");
    let few = || drive(&folder, &["good"]).random(0, 1).at_most(1).jobs(1);
    let rules = [
        (Stated::Always, "secrets.size() <= 2 && configmaps.all(it, has(it.metadata.labels))"),
        (Stated::Step, "before.secrets.size() <= after.secrets.size()"),
        (
            Stated::AtEnd,
            "objects['configmaps'].all(map, secrets.exists(it, it.metadata.name == map.metadata.name))",
        ),
    ];
    let all = rules.iter().fold(few(), |it, (when, text)| it.rule(*when, text));
    let report = check(all);
    assert_eq!((report.exit_code(), report.rules), (0, 3), "{report}");
    for (when, text) in [
        (Stated::Always, "secrets.size() <= 1"),
        (Stated::Step, "after.secrets.size() == 0"),
        (Stated::AtEnd, "secrets.exists(it, it.metadata.name == 'three')"),
    ] {
        let report = check(few().rule(when, text));
        assert_eq!(report.exit_code(), 100, "{report}");
        assert!(report.to_string().contains(&format!("this is not so: {text}")), "{report}");
    }
    let error = few().rule(Stated::Always, "podz.size() < 2").check(&|_| {});
    let error = error.expect_err("there is no such resource").to_string();
    assert!(error.contains("undeclared reference to 'podz'"), "{error}");
}

#[test]
fn what_cannot_run_is_an_error() {
    let folder = Folder::new("none");
    let none = Drive::new(&folder.0).process("it", vec!["/no/such/program".to_owned()]);
    let error = none.check(&|_| {}).expect_err("there is no such program");
    assert!(error.to_string().contains("/no/such/program cannot be started"), "{error}");
    for [one, other] in [["a", "a"], ["a", "A"], ["../a", "b"], ["", "b"]] {
        let command = || vec!["true".to_owned()];
        let bad = Drive::new(&folder.0).process(one, command()).process(other, command());
        let error = bad.check(&|_| {}).expect_err("the names are no good");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{error}");
    }
    let bad = Drive::new(&folder.0).given([json!({"kind": "Nothing", "apiVersion": "v1"})]);
    let error = bad.process("it", vec!["true".to_owned()]).check(&|_| {});
    let error = error.expect_err("the server has no such kind");
    assert!(error.to_string().contains("Nothing"), "{error}");
}

/// A controller with webhooks of a service, which the user's maps need to be accepted and labelled.
fn hooked(folder: &Folder, steps: &[serde_json::Value]) -> Drive {
    let command = command("hooks.py", &["{service:default/hooks}", "{certificates}"]);
    // The last object that it installs.
    let installed = json!({"wait": {"kind": "ValidatingAdmissionPolicyBinding", "name": "maps"}});
    let steps = [installed].into_iter().chain(steps.iter().cloned());
    let steps = steps.map(|it| serde_json::from_value::<Act>(it).expect("a step"));
    let drive = Drive::new(&folder.0).process("hooks", command).steps(steps);
    drive.rest(Duration::from_millis(700))
}

fn map(data: &serde_json::Value) -> serde_json::Value {
    json!({"apply": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data}})
}

#[test]
fn webhooks_that_a_process_installs_are_called_and_a_plan_strikes_them() {
    let folder = Folder::new("hooks");
    let foo = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "foo"}, "spec": {"size": 3}});
    let steps = [
        map(&json!({"key": "value"})),
        json!({"wait": {"kind": "Secret", "name": "one"}}),
        json!({"apply": foo}),
        json!({"wait": {"kind": "Secret", "name": "foo-3"}}),
    ];
    // Without a call the first step is refused; the label is what makes the controller look at the map.
    let report = check(hooked(&folder, &steps).random(0, 1).jobs(4));
    assert_eq!((report.exit_code(), report.held), (0, report.planned), "{report}");
    // The answer to what asks for a webhook comes when nobody listens there.
    for plan in ["webhook_down(label.example.com,1,2)", "webhook_down(foos.example.com,1,2)"] {
        let report = check(hooked(&folder, &steps).replay(plan).expect("it is a plan"));
        assert_eq!((report.exit_code(), report.held), (0, 1), "{report}");
    }
}

#[test]
fn what_a_webhook_or_a_policy_of_a_process_refuses_is_refused() {
    for (word, why) in [("bad", "no bad maps"), ("worse", "no worse maps")] {
        let folder = Folder::new(word);
        let report = check(hooked(&folder, &[map(&json!({word: "x"}))]));
        assert_eq!(report.exit_code(), 100, "{report}");
        assert!(report.found[0].violations[0].to_string().contains(why), "{report}");
    }
}
