//! What runs and lies at cloud providers, in clusters and in containers.

use super::command::Call;
use super::{Category, Findings, Severity};

/// Kinds of a cluster that hold others, or what is kept.
const HOLDING: &[&str] = &[
    "ns",
    "namespace",
    "namespaces",
    "pv",
    "persistentvolume",
    "persistentvolumes",
    "pvc",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "crd",
    "customresourcedefinition",
    "node",
    "nodes",
    "cluster",
];
/// Things at a cloud provider that hold what cannot be made again.
const KEPT: &[&str] = &[
    "bucket",
    "buckets",
    "database",
    "databases",
    "db",
    "disk",
    "disks",
    "instances",
    "instance",
    "key",
    "keyspace",
    "project",
    "projects",
    "group",
    "snapshot",
    "table",
    "tables",
    "vault",
    "volume",
    "cluster",
    "clusters",
    "sql",
    "stack",
    "account",
    "organization",
];

/// Tells what the command would do to what runs elsewhere.
pub(super) fn judge(call: &Call<'_>, told: &mut Findings) {
    match call.name.as_str() {
        "kubectl" | "oc" | "k" | "k9s" => judge_cluster(call, told),
        "helm" if matches!(call.operand(0).as_str(), "uninstall" | "delete") => {
            told.push((Category::Cluster, Severity::Risky, "takes a release out of the cluster"));
        }
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" | "cdktf" => judge_infrastructure(call, told),
        "aws" => judge_aws(call, told),
        "gcloud" | "az" | "doctl" | "linode-cli" | "hcloud" | "fly" | "flyctl" | "heroku" | "oci"
        | "ibmcloud" | "scw" => judge_provider(call, told),
        "gsutil" | "s3cmd" | "mc" | "rclone" | "azcopy" => judge_storage(call, told),
        "docker" | "podman" | "nerdctl" => judge_containers(call, told),
        "docker-compose" if call.operand(0) == "down" && call.has(&['v'], &["volumes"]) => {
            told.push((Category::Containers, Severity::Risky, "deletes volumes with what they hold"));
        }
        _ => {}
    }
}

fn judge_cluster(call: &Call<'_>, told: &mut Findings) {
    let mut operands =
        call.operands().map(str::to_ascii_lowercase).skip_while(|word| word != "delete" && word != "drain");
    match operands.next().as_deref() {
        Some("delete") => {
            let kind = operands.next().unwrap_or_default();
            let kind = kind.split(['/', '.']).next().unwrap_or_default();
            let holding = kind.split(',').any(|kind| HOLDING.contains(&kind));
            let all = call.has(&['A'], &["all", "all-namespaces"]) || kind == "all";
            if holding {
                told.push((
                    Category::Cluster,
                    Severity::Grave,
                    "deletes what holds much else in the cluster",
                ));
            } else if all {
                told.push((
                    Category::Cluster,
                    Severity::Grave,
                    "deletes everything of a kind in the cluster",
                ));
            } else {
                told.push((Category::Cluster, Severity::Risky, "deletes something that the cluster runs"));
            }
        }
        Some("drain") => {
            told.push((Category::Cluster, Severity::Risky, "empties a machine of the cluster"));
        }
        _ => {}
    }
}

fn judge_infrastructure(call: &Call<'_>, told: &mut Findings) {
    let destroys = matches!(call.operand(0).as_str(), "destroy" | "down")
        || call.operands().any(|word| word == "destroy")
        || call.has(&[], &["destroy"]);
    let unasked = call.has(&['y', 'f'], &["auto-approve", "yes", "force", "skip-preview", "non-interactive"])
        || call.arguments.iter().any(|word| word.contains("auto-approve"));
    if destroys && unasked {
        told.push((Category::Infrastructure, Severity::Grave, "takes down an infrastructure without asking"));
    } else if destroys {
        told.push((Category::Infrastructure, Severity::Risky, "takes down an infrastructure"));
    } else if call.operand(0) == "state" && matches!(call.operand(1).as_str(), "rm" | "delete") {
        told.push((Category::Infrastructure, Severity::Risky, "forgets what an infrastructure consists of"));
    }
}

fn judge_aws(call: &Call<'_>, told: &mut Findings) {
    let (service, action) = (call.operand(0), call.operand(1));
    if service == "s3" {
        let forced = call.has(&[], &["force"]);
        let deep = call.has(&[], &["recursive"]);
        match action.as_str() {
            "rb" if forced => {
                told.push((Category::Cloud, Severity::Grave, "deletes a bucket with all that is in it"));
            }
            "rm" if deep => {
                let whole = call.operands().skip(2).any(|word| {
                    word.trim_start_matches("s3://").trim_end_matches('/').split('/').count() == 1
                });
                let severity = if whole { Severity::Grave } else { Severity::Risky };
                told.push((Category::Cloud, severity, "deletes all objects below a place"));
            }
            "rb" | "rm" => {
                told.push((Category::Cloud, Severity::Risky, "deletes something that is kept in the cloud"));
            }
            "sync" if call.has(&[], &["delete"]) => {
                told.push((Category::Cloud, Severity::Risky, "deletes what the source does not have"));
            }
            _ => {}
        }
        return;
    }
    let destroys = ["delete-", "terminate-", "destroy-", "schedule-key-deletion", "deregister-", "purge-"]
        .iter()
        .any(|verb| action.starts_with(verb));
    if destroys {
        let kept = action.split('-').any(|word| KEPT.contains(&word))
            || matches!(service.as_str(), "rds" | "dynamodb" | "kms" | "cloudformation");
        let severity = if kept { Severity::Grave } else { Severity::Risky };
        told.push((Category::Cloud, severity, "deletes something at the cloud provider"));
    }
}

fn judge_provider(call: &Call<'_>, told: &mut Findings) {
    let words: Vec<String> = call.operands().map(|word| word.to_ascii_lowercase()).collect();
    let destroys = words.iter().any(|word| {
        matches!(word.as_str(), "delete" | "destroy" | "purge" | "remove" | "rm")
            || word.ends_with(":destroy")
            || word.ends_with(":reset")
    });
    if destroys {
        let kept = words.iter().any(|word| {
            word.split(['-', ':']).any(|word| KEPT.contains(&word))
                || word == "apps:destroy"
                || word == "pg:reset"
        });
        let severity = if kept { Severity::Grave } else { Severity::Risky };
        told.push((Category::Cloud, severity, "deletes something at the cloud provider"));
    }
}

fn judge_storage(call: &Call<'_>, told: &mut Findings) {
    let action = call
        .operands()
        .find(|word| matches!(*word, "rm" | "rb" | "del" | "delete" | "purge" | "remove" | "sync"));
    let deep = call.has(&['r', 'R'], &["recursive", "force"]);
    match action {
        Some("sync") if !call.has(&['d'], &["delete"]) => {}
        Some("purge" | "rb") => {
            told.push((Category::Cloud, Severity::Grave, "deletes a bucket with all that is in it"));
        }
        Some(_) if deep => {
            told.push((Category::Cloud, Severity::Grave, "deletes all objects below a place"));
        }
        Some(_) => {
            told.push((Category::Cloud, Severity::Risky, "deletes something that is kept in the cloud"));
        }
        None => {}
    }
}

fn judge_containers(call: &Call<'_>, told: &mut Findings) {
    let words: Vec<&str> = call.operands().collect();
    let volumes = call.has(&[], &["volumes"]);
    match words.as_slice() {
        ["system", "prune", ..] if volumes => {
            told.push((
                Category::Containers,
                Severity::Grave,
                "deletes everything that is not running, volumes included",
            ));
        }
        [_, "prune", ..] | ["prune", ..] => {
            told.push((Category::Containers, Severity::Risky, "deletes everything that is not running"));
        }
        ["volume", "rm" | "remove", ..] => {
            told.push((Category::Containers, Severity::Risky, "deletes volumes with what they hold"));
        }
        ["compose", "down", ..] if volumes || call.has(&['v'], &[]) => {
            told.push((Category::Containers, Severity::Risky, "deletes volumes with what they hold"));
        }
        ["rm" | "rmi" | "kill", ..] if call.has(&['f'], &["force"]) => {
            told.push((Category::Containers, Severity::Risky, "ends and deletes containers"));
        }
        ["run", ..]
            if call.has(&[], &["privileged"]) && call.arguments.iter().any(|word| word.starts_with("/:")) =>
        {
            told.push((Category::System, Severity::Grave, "gives a container the whole machine"));
        }
        _ => {}
    }
}
