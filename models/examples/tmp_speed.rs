//! tmp
use seatrial_models::cluster::*;
fn overlap(run: &Run) -> u64 {
    let w = run.acting_windows();
    let mut worst = 0;
    for (i, a) in w.iter().enumerate() {
        for b in &w[i + 1..] {
            if a.process != b.process {
                worst = worst.max(a.overlap(b));
            }
        }
    }
    worst
}
fn main() {
    let text = std::env::args().nth(1).unwrap();
    let n: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let plan: Plan = text.parse().unwrap();
    println!("{plan}");
    let mut c = Campaign::new();
    let t = std::time::Instant::now();
    let (mut steps, mut terms, mut bad, mut worst, mut first) = (0, 0, 0, 0, None);
    for seed in 0..n {
        let run = c.run(&plan.with_seed(seed));
        steps += run.steps;
        terms += run.happenings.iter().filter(|h| matches!(h.what, What::Leads { .. })).count();
        if std::env::args().nth(3).is_none() {
            let o = overlap(run);
            if o > 0 {
                bad += 1;
                if first.is_none() {
                    first = Some(seed);
                }
                worst = worst.max(o);
            }
        }
    }
    let s = t.elapsed().as_secs_f64();
    println!(
        "{n} runs, {steps} steps, {terms} terms, {:.1} M steps/s, {bad} overlapping, worst {:.3} s, first {first:?}",
        steps as f64 / s / 1e6,
        worst as f64 / 1e9
    );
}
