//! The window draws images of the vault and no others.

use serde_json::{Value, json};
use testkit::{DesktopApp, DesktopHome, Reply, ScriptedModel, TempVault};

use crate::lock_display;
use crate::security::content_security_policy::TrapServer;

const PANE: &str = "[data-testid=note-pane]";
const LOG: &str = "[data-testid=chat-log]";

/// The image of the sample, and its width.
const SAMPLE_IMAGE: &str = "Projects/Beds.png";
const SAMPLE_IMAGE_WIDTH: u32 = 480;

/// Waits until the images in a part of the page are in this state: the alternative text of each,
/// and its width or a mark.
async fn wait_for_image_states(app: &DesktopApp, part: &str, expected: &Value) {
    let script = format!(
        "const places = document.querySelectorAll('{part} [data-image], {part} [data-undrawn]');
         const states = [...places].map((place) => {{
             const image = place.querySelector('img');
             if (!image) return [place.textContent, 'mark'];
             return [image.alt, image.complete ? image.naturalWidth : null];
         }});
         const now = JSON.stringify(states);
         return now === JSON.stringify({expected}) || now;"
    );
    app.window.wait_until(&format!("{expected} in {part}"), &script).await;
}

/// Whether the page can load an image from a URL.
async fn can_load(app: &DesktopApp, address: &str) -> bool {
    let load = "
        const image = new Image();
        return new Promise((told) => {
            image.onload = () => told(image.naturalWidth > 0);
            image.onerror = () => told(false);
            image.src = arguments[0];
        });";
    app.window.execute(load, &json!([address])).await == json!(true)
}

fn image_url(link: &str) -> String {
    let link: String = link.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("vault-image://localhost/?link={link}&note=Projects%2FPhotos.md")
}

const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";

fn sample_image(vault: &TempVault) -> Vec<u8> {
    vault.snapshot().remove(SAMPLE_IMAGE).expect("the image of the sample")
}

/// The sample with a note that names images, files with the extension of one, and files in `out`
/// and at `remote`; also returns the link to `out`.
fn write_image_notes(out: &TempVault, remote: &str) -> (TempVault, String) {
    let vault = TempVault::from_fixture("sample");
    let image = sample_image(&vault);
    let beside = out.root().file_name().expect("its name").to_string_lossy().into_owned();
    out.write("out.png", &image);
    let way_out = format!("../../{beside}/out.png");
    vault.write("Projects/img/pic one.png", &image);
    vault.write("Projects/img/plan.svg", SVG);
    vault.write("Projects/img/drawn.png", SVG);
    vault.write("Projects/img/page.png", "<!doctype html><script>window.__pwned = 1</script>");
    std::os::unix::fs::symlink(out.root().join("out.png"), vault.root().join("Projects/link.png"))
        .expect("a link that leads out");
    vault.write(
        "Projects/Photos.md",
        format!(
            "![[Beds.png|300]]\n\n![a folder](img/pic%20one.png)\n\n![a drawing](img/plan.svg)\n\n\
             ![called an image](img/drawn.png)\n\n![a page](img/page.png)\n\n![a link](link.png)\n\n\
             ![a way out]({way_out})\n\n![remote]({remote}/photo.png)\n\n![[Late.png]]\n"
        ),
    );
    // The control: the target of each link exists.
    assert!(vault.root().join("Projects").join(&way_out).exists());
    assert!(vault.root().join("Projects/link.png").exists());
    (vault, way_out)
}

#[tokio::test(flavor = "multi_thread")]
async fn images_of_the_vault_are_drawn_and_no_others() {
    let _turn = lock_display().await;
    let (out, lure) = (TempVault::new(&[]), TrapServer::start().await);
    let (vault, way_out) = write_image_notes(&out, &lure.base);
    let reply = Reply::text("Here they are:\n\n![The beds](Beds.png)\n\nSee [[Photos]].");
    let model = ScriptedModel::start(vec![reply]).await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let app = home.start().await;
    app.wait_until_opened().await;
    app.window.type_into("[data-testid=composer]", "What grows where?").await;
    app.window.click("[data-testid=send]").await;
    wait_for_image_states(&app, LOG, &json!([["The beds", SAMPLE_IMAGE_WIDTH]])).await;

    app.window.click_text(&format!("{LOG} a"), "Photos").await;
    let marked = |words: &str| json!([words, "mark"]);
    let with_late = |late: &Value| {
        json!([
            ["Beds.png", SAMPLE_IMAGE_WIDTH],
            ["a folder", SAMPLE_IMAGE_WIDTH],
            marked("a drawing"),
            marked("called an image"),
            marked("a page"),
            marked("a link"),
            marked("a way out"),
            marked("remote"),
            late
        ])
    };
    wait_for_image_states(&app, PANE, &with_late(&marked("Late.png"))).await;
    let shown = format!(
        "const [first, second] = document.querySelectorAll('{PANE} img');
         const page = document.querySelector('{PANE} .markdown').clientWidth;
         return first.clientWidth === 300 && second.clientWidth <= page;"
    );
    assert_eq!(app.window.execute(&shown, &json!([])).await, true);
    app.save_screenshot("images").await;
    vault.write("Projects/img/Late.png", sample_image(&vault));
    wait_for_image_states(&app, PANE, &with_late(&json!(["Late.png", SAMPLE_IMAGE_WIDTH]))).await;

    assert!(can_load(&app, &image_url("Beds.png")).await, "the control");
    for link in [way_out.as_str(), "link.png", "img/plan.svg", "img/page.png", "Photos.md"] {
        assert!(!can_load(&app, &image_url(link)).await, "{link}");
    }
    assert!(!can_load(&app, &format!("{}/photo.png", lure.base)).await);
    assert!(lure.requested.borrow().is_empty(), "{:?}", *lure.requested.borrow());
    assert_eq!(app.window.execute("return '__pwned' in window", &json!([])).await, false);
    app.quit().await;
    model.finish();
}
