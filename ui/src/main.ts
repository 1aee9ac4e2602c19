/** Starts the window. */
import './styles/tokens.css';
import './styles/base.css';

import { mount } from 'svelte';

import type { Host } from './ipc/host';
import { tauriHost } from './ipc/tauri';
import { setLanguage } from './shared/i18n/language.svelte';
import { Session } from './state/session.svelte';
import App from './views/App.svelte';

/** In development `?fake=STORY` plays a story without the application. A build drops the branch, and `tests/fake` with it. */
async function chooseHost(): Promise<Host> {
  const story = new URLSearchParams(location.search).get('fake');
  if (!import.meta.env.DEV || story === null) return tauriHost;
  const { FakeHost } = await import('../tests/fake/host');
  const { stories } = await import('../tests/fake/stories');
  const tell = stories[story];
  return tell ? new FakeHost(tell()) : tauriHost;
}

const target = document.getElementById('window');
if (target) {
  setLanguage('system');
  const session = new Session(await chooseHost());
  mount(App, { target, props: { session } });
  void session.start();
}
