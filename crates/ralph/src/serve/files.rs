//! The files of the page; they are part of the program.

use super::answer::WebAnswer;

/// One file.
pub(super) struct PageFile {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All of them.
const FILES: [PageFile; 9] = [
    PageFile { path: "/", kind: "text/html; charset=utf-8", text: include_str!("page/index.html") },
    PageFile { path: "/page.css", kind: "text/css; charset=utf-8", text: include_str!("page/page.css") },
    PageFile { path: "/icon.svg", kind: "image/svg+xml", text: include_str!("page/icon.svg") },
    PageFile { path: "/page.js", kind: SCRIPT, text: include_str!("page/page.js") },
    PageFile { path: "/connection.js", kind: SCRIPT, text: include_str!("page/connection.js") },
    PageFile { path: "/dom.js", kind: SCRIPT, text: include_str!("page/dom.js") },
    PageFile { path: "/list.js", kind: SCRIPT, text: include_str!("page/list.js") },
    PageFile { path: "/run.js", kind: SCRIPT, text: include_str!("page/run.js") },
    PageFile { path: "/actions.js", kind: SCRIPT, text: include_str!("page/actions.js") },
];

/// The file that is asked for by exactly this path.
pub(super) fn find(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}

impl PageFile {
    /// The file as it is sent.
    pub(super) fn answer(&self) -> WebAnswer {
        WebAnswer::file(self.kind, self.text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of agents must not become markup, and nothing may be loaded from elsewhere.
    #[test]
    fn the_page_has_no_way_to_make_markup_of_text() {
        for file in &FILES {
            for danger in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
                "DOMParser",
            ] {
                assert!(!file.text.contains(danger), "{} has {danger}", file.path);
            }
            let outside = file.text.replace("http://www.w3.org/2000/svg", "");
            for link in ["http://", "https://", "//cdn", "javascript:"] {
                assert!(!outside.contains(link), "{} has {link}", file.path);
            }
            assert!(file.text.lines().count() <= 400, "{} is long", file.path);
        }
    }

    #[test]
    fn only_whole_paths_are_files() {
        assert!(find("/").is_some() && find("/page.js").is_some());
        for path in
            ["", "/index.html", "//", "/./page.js", "/../page.js", "/page.js/", "/%70age.js", "/page.js\0"]
        {
            assert!(find(path).is_none(), "{path}");
        }
    }
}
