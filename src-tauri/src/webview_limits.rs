//! Limits the actions of the web engine that bypass the framework: its menu, printing, and
//! navigation to URLs that the framework cannot parse and lets pass.

use tauri::{Runtime, Url, WebviewWindow};
use webkit2gtk::{
    ContextMenu, ContextMenuAction, ContextMenuExt as _, ContextMenuItemExt as _, LoadEvent,
    WebView, WebViewExt as _,
};

use crate::navigation::{is_own_page, own_page_url};

/// The allowed entries of the menu: work on text.
const TEXT_MENU_ACTIONS: [ContextMenuAction; 14] = [
    ContextMenuAction::Copy,
    ContextMenuAction::Cut,
    ContextMenuAction::Paste,
    ContextMenuAction::PasteAsPlainText,
    ContextMenuAction::Delete,
    ContextMenuAction::SelectAll,
    ContextMenuAction::InputMethods,
    ContextMenuAction::Unicode,
    ContextMenuAction::InsertEmoji,
    ContextMenuAction::SpellingGuess,
    ContextMenuAction::NoGuessesFound,
    ContextMenuAction::IgnoreSpelling,
    ContextMenuAction::LearnSpelling,
    ContextMenuAction::IgnoreGrammar,
];

/// Closes what [`crate::navigation`] cannot. Returns before it is done; the page has not begun by then.
pub(crate) fn restrict_webview<R: Runtime>(window: &WebviewWindow<R>) -> tauri::Result<()> {
    window.with_webview(|webview| {
        let view = webview.inner();
        view.connect_load_changed(|view, event| match event {
            _ if is_on_own_page(view) => {}
            LoadEvent::Started | LoadEvent::Redirected => view.stop_loading(),
            // It is there: the engine makes an empty page of an address that is none.
            LoadEvent::Committed => view.load_uri(&own_page_url()),
            _ => {}
        });
        view.connect_context_menu(|_, menu, _, _| {
            keep_text_actions(menu);
            menu.n_items() == 0
        });
        view.connect_print(|_, _| true);
    })
}

fn is_on_own_page(view: &WebView) -> bool {
    let address = view.uri().unwrap_or_default();
    Url::parse(&address).is_ok_and(|address| is_own_page(&address))
}

fn keep_text_actions(menu: &ContextMenu) {
    let items = menu.items();
    for item in items.iter().filter(|item| !item.is_separator()) {
        if !TEXT_MENU_ACTIONS.contains(&item.stock_action()) {
            menu.remove(item);
        }
    }
    // Lines part what stood above them from what stood below: without that they are at an end.
    while let Some(item) = menu.first().filter(|item| item.is_separator()) {
        menu.remove(&item);
    }
    while let Some(item) = menu.last().filter(|item| item.is_separator()) {
        menu.remove(&item);
    }
}
