//! What agents may put in the place of files and folders, and what becomes of it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

use tempfile::TempDir;

use super::{
    folder::{at_once, step_by_step},
    *,
};

/// A trusted folder, and beside it what must stay as it is.
struct World {
    top: TempDir,
    root: Root,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(top.path().join("project/folder")).expect("a folder");
        fs::create_dir_all(top.path().join("outside")).expect("a folder");
        fs::write(top.path().join("outside/secret"), "secret").expect("a file");
        fs::write(top.path().join("project/folder/plain"), "plain").expect("a file");
        let root = Root::new(top.path().join("project"));
        Self { top, root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join("project").join(name)
    }

    /// Puts links to a file and to a folder outside, pipes and folders into the project.
    fn with_obstacles(self) -> Self {
        symlink("../outside/secret", self.path("link")).expect("a link");
        symlink(self.top.path().join("outside"), self.path("linked")).expect("a link");
        symlink("nowhere", self.path("dangling")).expect("a link");
        symlink("/dev/zero", self.path("zeros")).expect("a link");
        symlink("folder", self.path("inside")).expect("a link");
        make_pipe(&self.path("pipe")).expect("a pipe");
        fs::create_dir(self.path("directory")).expect("a folder");
        fs::write(self.path("directory/within"), "").expect("a file");
        self
    }

    fn outside(&self) -> (String, usize) {
        let secret = fs::read_to_string(self.top.path().join("outside/secret")).expect("the file");
        (secret, fs::read_dir(self.top.path().join("outside")).expect("the folder").count())
    }

    /// What is left beside the files.
    fn drafts(&self) -> usize {
        let folders = [self.path(""), self.path("folder"), self.top.path().join("outside")];
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder")).flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(".ralph-")).count()
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: io::Result<T>, why: &str) {
    let error = result.expect_err("it must be refused").to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn only_regular_files_below_the_root_are_read() {
    let world = World::new().with_obstacles();
    assert_eq!(world.root.read("folder/plain", 5).expect("the file"), b"plain");
    assert_eq!(world.root.read(world.path("folder/plain"), 5).expect("the file"), b"plain");
    assert_eq!(world.root.read("./folder/./plain", 5).expect("the file"), b"plain");
    for (path, why) in [
        ("link", "a link"),
        ("dangling", "a link"),
        ("zeros", "a link"),
        ("linked/secret", "a link"),
        ("inside/plain", "a link"),
        ("pipe", "not a plain file"),
        ("directory", "not a plain file"),
        ("pipe/plain", "a link or a file"),
        ("../outside/secret", "is not below"),
        ("folder/../link", "is not below"),
        ("/etc/passwd", "is not below"),
    ] {
        refused(world.root.read(path, 1000), why);
    }
    let missing = world.root.read("folder/missing", 1).expect_err("it is not there");
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_device_is_no_file() {
    let devices = Root::new("/dev");
    refused(devices.read("zero", 1000), "not a plain file");
    refused(read(Path::new("/dev/zero"), 1000), "not a plain file");
}

#[test]
fn no_more_is_read_than_allowed() {
    let world = World::new();
    refused(world.root.read("folder/plain", 4), "longer than 4 bytes");
    // Sparse: it would not fit into the memory.
    let huge = File::create(world.path("huge")).expect("a file");
    huge.set_len(1 << 40).expect("it is sparse");
    refused(world.root.read("huge", MAX_TEXT_LEN), "longer than");
    refused(read_text(&world.path("huge")), "longer than");
    // These say that they are empty, and are not.
    refused(read(Path::new("/proc/self/maps"), 10), "longer than 10 bytes");
}

#[test]
fn what_a_user_linked_is_read_and_pipes_are_not() {
    let world = World::new().with_obstacles();
    assert_eq!(read_text(&world.path("link")).expect("the file"), "secret");
    assert_eq!(read_text(&world.path("linked/secret")).expect("the file"), "secret");
    refused(read_text(&world.path("pipe")), "not a plain file");
    refused(read_text(&world.path("zeros")), "not a plain file");
    refused(read_text(&world.path("directory")), "not a plain file");
}

#[test]
fn both_ways_to_open_refuse_the_same() {
    let world = World::new().with_obstacles();
    let root = world.root.opened().expect("the folder");
    let flags = READING | OFlags::NOFOLLOW;
    for path in
        ["link", "dangling", "zeros", "linked/secret", "inside/plain", "pipe/plain", "missing", "no/no"]
    {
        let path = Path::new(path);
        assert!(step_by_step(&root, path, flags, Mode::empty()).is_err(), "{path:?}");
        // A kernel without the call opens nothing at once.
        let at_once = at_once(&root, path, flags, Mode::empty());
        assert!(at_once.is_none_or(|opened| opened.is_err()), "{path:?}");
    }
    assert!(step_by_step(&root, Path::new("folder/plain"), flags, Mode::empty()).is_ok());
    assert!(step_by_step(&root, Path::new("pipe"), flags, Mode::empty()).is_ok(), "and it does not wait");
}

#[test]
fn a_file_is_replaced_and_nothing_that_a_link_leads_to() {
    let world = World::new().with_obstacles();
    for path in ["link", "dangling", "zeros", "pipe", "folder/plain", "folder/new", "a/b/c"] {
        world.root.replace(path, b"mine", Readers::AsBefore).expect(path);
        assert_eq!(fs::read(world.path(path)).expect(path), b"mine");
        assert!(fs::symlink_metadata(world.path(path)).expect(path).is_file(), "{path}");
    }
    assert_eq!(world.outside(), ("secret".to_owned(), 1));
    assert_eq!(world.drafts(), 0);
}

#[test]
fn a_file_is_not_written_through_a_linked_folder() {
    let world = World::new().with_obstacles();
    for path in ["linked/secret", "linked/new", "linked/a/b", "inside/plain", "folder/plain/x", "pipe/x"] {
        refused(world.root.replace(path, b"mine", Readers::AsBefore), "a link");
        refused(world.root.create(path), "a link");
        refused(world.root.append(path), "a link");
    }
    refused(world.root.make_folder("linked/a"), "a link");
    refused(world.root.remove("linked/secret"), "a link");
    assert!(world.root.replace("directory", b"mine", Readers::AsBefore).is_err());
    assert_eq!(world.outside(), ("secret".to_owned(), 1));
    assert_eq!(fs::read(world.path("folder/plain")).expect("the file"), b"plain");
    assert_eq!(world.drafts(), 0);
}

#[test]
fn a_file_is_restored_whatever_stands_in_its_place() {
    let world = World::new().with_obstacles();
    symlink(world.top.path().join("outside"), world.path("directory/more")).expect("a link");
    for path in ["link", "directory", "linked/secret", "inside/plain", "folder/plain/x", "pipe/x/y"] {
        world.root.restore(path, b"mine").expect(path);
        assert_eq!(fs::read(world.path(path)).expect(path), b"mine");
    }
    assert_eq!(world.outside(), ("secret".to_owned(), 1));
    assert!(fs::symlink_metadata(world.path("linked")).expect("a folder").is_dir());
    assert_eq!(world.drafts(), 0);
}

#[test]
fn the_old_contents_stay_when_the_new_ones_cannot_be_written() {
    let world = World::new();
    let full = |_: &mut File| Err(io::ErrorKind::StorageFull.into());
    let refused = world.root.replace_with("folder/plain", Readers::AsBefore, full);
    assert_eq!(refused.expect_err("it is full").kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read(world.path("folder/plain")).expect("the file"), b"plain");
    assert_eq!(world.drafts(), 0);
}

#[test]
fn permissions_stay_unless_the_file_is_private() {
    let world = World::new();
    let mode = |path: &str| fs::metadata(world.path(path)).expect("a file").permissions().mode() & 0o7777;
    fs::set_permissions(world.path("folder/plain"), PermissionsExt::from_mode(0o4750)).expect("a mode");
    world.root.replace("folder/plain", b"mine", Readers::AsBefore).expect("the file");
    assert_eq!(mode("folder/plain"), 0o750);
    world.root.replace("folder/plain", b"mine", Readers::Owner).expect("the file");
    assert_eq!(mode("folder/plain"), 0o600);
}

#[test]
fn files_are_appended_to_themselves_only() {
    let world = World::new().with_obstacles();
    let mut file = world.root.append("folder/plain").expect("the file");
    file.write_all(b" and more").expect("a write");
    assert_eq!(fs::read(world.path("folder/plain")).expect("the file"), b"plain and more");
    world.root.append("new/file").expect("it is made");
    for (path, why) in
        [("link", "a link"), ("zeros", "a link"), ("pipe", "not a plain file"), ("directory", "")]
    {
        refused(world.root.append(path), why);
    }
    assert_eq!(world.root.create("link").expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
    world.root.create("logs/one").expect("it is made");
    world.root.remove("link").expect("the link goes");
    world.root.remove("pipe").expect("the pipe goes");
    assert_eq!(world.outside(), ("secret".to_owned(), 1));
}

#[test]
fn a_root_that_is_a_link_is_as_good_as_the_folder() {
    let world = World::new();
    let by_link = world.top.path().join("by-link");
    symlink("project", &by_link).expect("a link");
    assert_eq!(Root::new(&by_link).read("folder/plain", 5).expect("the file"), b"plain");
    assert_eq!(Root::new(&by_link).read(by_link.join("folder/plain"), 5).expect("the file"), b"plain");
}

#[test]
fn links_are_made_and_replaced_and_never_followed() {
    let root = tempfile::tempdir().expect("a folder");
    let path = |name: &str| root.path().join(name);
    let trusted = Root::new(root.path());
    trusted.link("a/b/link", Path::new("/one")).expect("a link");
    trusted.link("a/b/link", Path::new("/one")).expect("the same");
    trusted.link("a/b/link", Path::new("/two")).expect("another");
    assert_eq!(std::fs::read_link(path("a/b/link")).expect("a link"), Path::new("/two"));
    std::fs::write(path("a/file"), "x").expect("a file");
    trusted.link("a/file", Path::new("/one")).expect("it stays");
    assert_eq!(std::fs::read_to_string(path("a/file")).expect("a file"), "x");
    std::fs::create_dir(path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink(path("elsewhere"), path("c")).expect("a link");
    trusted.link("c/link", Path::new("/one")).expect_err("a link in the way");
    assert_eq!(std::fs::read_dir(path("elsewhere")).expect("a folder").count(), 0);
}
