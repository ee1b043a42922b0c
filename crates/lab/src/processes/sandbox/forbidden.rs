//! The reasons why namespaces are refused, and the remedies.

use std::path::Path;

use hopbench_model::Fault;
use hopbench_sys::namespace::{NamespaceStep, StartError};
use nix::errno::Errno;

const ALTERNATIVE: &str = "Or run it as root, which needs no user namespace: `sudo hopbench ...`.";

/// The meaning of a failed start for the user.
pub(super) fn fault(failed: &StartError) -> Fault {
    let what = match failed.step {
        NamespaceStep::Prepare => "start a process for the lab",
        NamespaceStep::Clone => "make namespaces for the lab",
        NamespaceStep::MapUser => "become root in the lab's user namespace",
        NamespaceStep::Execute => "start this program once more inside the lab",
    };
    let reason = match failed.step {
        NamespaceStep::Clone | NamespaceStep::MapUser => reason(failed, Path::new("/proc/sys")),
        NamespaceStep::Prepare | NamespaceStep::Execute => String::new(),
    };
    Fault::environment(format!("cannot {what}: {}. {reason}", failed.error).trim_end().to_owned())
}

/// The setting that forbids namespaces, from the settings in `settings` (`/proc/sys`).
fn reason(failed: &StartError, settings: &Path) -> String {
    let setting = |name: &str| {
        let text = std::fs::read_to_string(settings.join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    if setting("kernel/unprivileged_userns_clone") == Some(0) {
        return format!(
            "The setting kernel.unprivileged_userns_clone = 0 forbids it to ordinary users; \
             `sudo sysctl kernel.unprivileged_userns_clone=1` allows it. {ALTERNATIVE}"
        );
    }
    if setting("user/max_user_namespaces") == Some(0) {
        return format!(
            "The setting user.max_user_namespaces = 0 forbids user namespaces; \
             `sudo sysctl user.max_user_namespaces=10000` allows them. {ALTERNATIVE}"
        );
    }
    let errno = failed.error.raw_os_error().map(Errno::from_raw);
    if failed.step == NamespaceStep::MapUser
        && errno == Some(Errno::EPERM)
        && nix::unistd::geteuid().is_root()
    {
        return "This is root, but without the capabilities that the lab uses (CAP_SYS_ADMIN, \
                CAP_NET_ADMIN and CAP_NET_RAW). It cannot become root of a user namespace either \
                (CAP_SETFCAP). Give them to the container, or run hopbench as an ordinary user."
            .to_owned();
    }
    match errno {
        Some(Errno::ENOSPC | Errno::EUSERS) => format!(
            "There are as many namespaces as the settings user.max_user_namespaces, \
             user.max_net_namespaces, user.max_pid_namespaces and user.max_mnt_namespaces allow, \
             or they are nested too deep. {ALTERNATIVE}"
        ),
        Some(Errno::EPERM | Errno::EACCES)
            if setting("kernel/apparmor_restrict_unprivileged_userns") == Some(1) =>
        {
            format!(
                "AppArmor forbids it (the setting kernel.apparmor_restrict_unprivileged_userns = \
                 1). Allow it to this \
                 program with a profile, /etc/apparmor.d/hopbench:\n\
                 \x20   abi <abi/4.0>,\n\
                 \x20   profile hopbench {} flags=(unconfined) {{\n\
                 \x20     userns,\n\
                 \x20   }}\n\
                 and `sudo apparmor_parser -r /etc/apparmor.d/hopbench`; or to everyone with \
                 `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`. {ALTERNATIVE}",
                this_program()
            )
        }
        Some(Errno::EPERM | Errno::EACCES) => format!(
            "No setting forbids it, so a container (its seccomp or AppArmor profile) or a chroot \
             does. Give the container the right (Docker: --privileged, or --cap-add SYS_ADMIN \
             --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt \
             apparmor=unconfined --security-opt systempaths=unconfined), or run hopbench outside \
             of it. {ALTERNATIVE}"
        ),
        Some(Errno::EINVAL | Errno::ENOSYS) => {
            "The kernel needs CONFIG_USER_NS, CONFIG_PID_NS and CONFIG_NET_NS.".to_owned()
        }
        _ => ALTERNATIVE.to_owned(),
    }
}

fn this_program() -> String {
    std::env::current_exe()
        .map_or_else(|_| "/usr/local/bin/hopbench".to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// The reason that is given when the kernel says `errno` and these settings are there.
    fn reason_for(errno: Errno, settings: &[(&str, &str)]) -> String {
        let folder =
            std::env::temp_dir().join(format!("hopbench-settings-{}-{errno}", std::process::id()));
        for (name, value) in settings {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, format!("{value}\n")).unwrap();
        }
        let error = io::Error::from_raw_os_error(errno as i32);
        let reason = reason(&StartError { step: NamespaceStep::Clone, error }, &folder);
        let _ = std::fs::remove_dir_all(&folder);
        reason
    }

    #[test]
    fn the_setting_that_forbids_is_named() {
        let debian = reason_for(Errno::EPERM, &[("kernel/unprivileged_userns_clone", "0")]);
        assert!(
            debian.contains("kernel.unprivileged_userns_clone=1")
                && debian.contains("sudo hopbench"),
            "{debian}"
        );
        let none = reason_for(Errno::ENOSPC, &[("user/max_user_namespaces", "0")]);
        assert!(none.contains("user.max_user_namespaces=10000"), "{none}");
        let allowed =
            [("kernel/unprivileged_userns_clone", "1"), ("user/max_user_namespaces", "5")];
        let full = reason_for(Errno::EUSERS, &allowed);
        assert!(full.contains("as many namespaces"), "{full}");
        let ubuntu =
            reason_for(Errno::EACCES, &[("kernel/apparmor_restrict_unprivileged_userns", "1")]);
        assert!(
            ubuntu.contains("/etc/apparmor.d/hopbench") && ubuntu.contains("userns,"),
            "{ubuntu}"
        );
        let container = reason_for(Errno::EPERM, &allowed);
        assert!(
            container.contains("seccomp") && container.contains("sudo hopbench"),
            "{container}"
        );
        let kernel = reason_for(Errno::EINVAL, &[]);
        assert!(kernel.contains("CONFIG_USER_NS"), "{kernel}");
    }

    #[test]
    fn it_is_the_environment_that_cannot() {
        let error = io::Error::from_raw_os_error(Errno::EPERM as i32);
        let fault = fault(&StartError { step: NamespaceStep::Clone, error });
        assert_eq!(fault.kind, hopbench_model::FaultKind::Environment);
        assert!(
            fault.text.starts_with("cannot make namespaces for the lab: Operation not permitted"),
            "{fault}"
        );
    }
}
