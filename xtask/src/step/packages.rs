//! The packages of the client tests, of the OpenID provider and of the SDK: Node's by npm, Python's by pip, in the target folder and
//! out of the tree.
//!
//! Each set is installed once and again when its list has changed: the list it was installed from lies beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::process::Trouble;
use crate::world::World;

/// Where Node's packages are listed, with the scripts that use them.
const NODE: &str = "tests/clients/node";
/// Where the OpenID provider is, which Rust tests log in at.
const PROVIDER: &str = "tests/oidc";
/// Where the SDK is, and where the runtimes are listed that it is tested in.
const SDK: &str = "sdk/typescript";
const SDK_TESTS: &str = "sdk/typescript/tests";
/// Where Python's are.
const PYTHON: &str = "tests/clients/python";

/// The `node` that comes with the packages: the clients want a newer one than Debian has.
pub(super) fn node(world: &World) -> Result<PathBuf, String> {
    let folder = npm(world, NODE, "clients/node")?;
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    Ok(folder.join(format!("node_modules/node-linux-{machine}/bin/node")))
}

/// The packages of the provider, for whichever test starts it.
pub(super) fn provider(world: &World) -> Result<(), String> {
    npm(world, PROVIDER, "clients/oidc").map(|_| ())
}

/// What builds the SDK, and what its tests run in.
pub(super) fn sdk(world: &World) -> Result<(), String> {
    npm(world, SDK, "clients/sdk")?;
    npm(world, SDK_TESTS, "clients/sdk-tests").map(|_| ())
}

/// Installs the packages that `scripts` lists below the target folder, and links them beside the scripts.
fn npm(world: &World, scripts: &str, below_target: &str) -> Result<PathBuf, String> {
    let (scripts, folder) = (world.root.join(scripts), world.target.join(below_target));
    let lists = ["package.json", "package-lock.json"];
    installed(&scripts, &folder, &lists, || {
        let mut npm = world.command("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        world.run_patiently(&mut npm)
    })?;
    link(&folder.join("node_modules"), &scripts.join("node_modules"))?;
    Ok(folder)
}

/// The `bin` folder of a virtual environment with Python's packages.
pub(super) fn python(world: &World) -> Result<PathBuf, String> {
    let folder = world.target.join("clients/python");
    let lists = ["requirements.txt", "constraints.txt"];
    installed(&world.root.join(PYTHON), &folder, &lists, || {
        let environment = folder.join("environment");
        world.run(world.command("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        let mut pip = world.command(environment.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "-r", lists[0], "-c", lists[1]]);
        world.run_patiently(pip.current_dir(&folder))
    })?;
    Ok(folder.join("environment/bin"))
}

/// Copies the lists to `folder` and installs from them there, unless that was done with these very lists.
fn installed(
    source: &Path,
    folder: &Path,
    lists: &[&str],
    install: impl Fn() -> Result<(), Trouble>,
) -> Result<(), String> {
    let shown = |error: std::io::Error| format!("cannot prepare {}: {error}", folder.display());
    let mut wanted = String::new();
    for list in lists {
        let path = source.join(list);
        wanted +=
            &fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    }
    let done = folder.join("installed");
    if fs::read_to_string(&done).is_ok_and(|before| before == wanted) {
        return Ok(());
    }
    println!("the packages of {} are absent or of another list", source.display());
    fs::create_dir_all(folder).map_err(shown)?;
    // What is cut short must not pass for done.
    let _ = fs::remove_file(&done);
    for list in lists {
        fs::copy(source.join(list), folder.join(list)).map_err(shown)?;
    }
    install().map_err(|trouble| trouble.to_string())?;
    fs::write(&done, wanted).map_err(shown)
}

/// Node looks for packages beside the scripts. A folder that somebody filled by hand stays.
fn link(packages: &Path, beside: &Path) -> Result<(), String> {
    if fs::read_link(beside).is_ok_and(|now| now == packages) {
        return Ok(());
    }
    if fs::symlink_metadata(beside).is_ok_and(|found| found.is_symlink()) {
        let _ = fs::remove_file(beside);
    }
    if beside.exists() {
        return Ok(());
    }
    symlink(packages, beside).map_err(|error| format!("cannot link {}: {error}", beside.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_list_is_installed_once_and_again_when_it_changes() {
        let world = World::open(crate::stop::Stop::default()).unwrap();
        let (source, folder) = (world.folder().join("source"), world.folder().join("folder"));
        fs::create_dir(&source).unwrap();
        let runs = Cell::new(0);
        let count = |outcome: Result<(), Trouble>| {
            installed(&source, &folder, &["list"], || {
                runs.set(runs.get() + 1);
                outcome.as_ref().map_err(|_| Trouble::Failed("no network".into())).copied()
            })
        };
        fs::write(source.join("list"), "one").unwrap();
        assert_eq!(count(Err(Trouble::Interrupted)), Err("no network".into()));
        assert_eq!((count(Ok(())), count(Ok(()))), (Ok(()), Ok(())));
        assert_eq!(runs.get(), 2, "what failed is tried again, what is done is not");
        fs::write(source.join("list"), "two").unwrap();
        assert_eq!(count(Ok(())), Ok(()));
        assert_eq!(runs.get(), 3);
        assert_eq!(fs::read_to_string(folder.join("list")).unwrap(), "two");
    }

    #[test]
    fn packages_are_linked_and_a_folder_by_hand_stays() {
        let world = World::open(crate::stop::Stop::default()).unwrap();
        let [packages, beside, by_hand] =
            ["packages", "beside", "hand"].map(|name| world.folder().join(name));
        for folder in [&packages, &by_hand] {
            fs::create_dir(folder).unwrap();
        }
        symlink(world.folder().join("gone"), &beside).unwrap();
        link(&packages, &beside).unwrap();
        assert_eq!(fs::read_link(&beside).unwrap(), packages);
        link(&packages, &by_hand).unwrap();
        assert!(fs::symlink_metadata(&by_hand).unwrap().is_dir());
    }
}
