/**
 * A page in WebKit, the engine of the window, on a display of its own, through the driver that comes with it.
 * `MINIBROWSER` names the browser where it is not at the place that Debian puts it.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';

const miniBrowser =
  process.env.MINIBROWSER ??
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

/** The reason why there is no WebKit here, with what to do; `null` where there is one. */
export const noWebKit = existsSync(miniBrowser)
  ? null
  : 'there is no MiniBrowser here. Install libwebkit2gtk-4.1-0, or name one.';

/** Begins a browser, and ends it once `work` is done. */
export async function inWebKit(work) {
  const display = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1400x1000x24'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise((resolve) => display.stdio[3].once('data', resolve));
  const port = await freePort();
  const env = { ...process.env, DISPLAY: `:${String(number).trim()}` };
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], { env, stdio: 'ignore' });
  try {
    const page = await Page.open(`http://127.0.0.1:${port}`);
    const told = await work(page);
    await page.close();
    return told;
  } finally {
    driver.kill();
    display.kill();
  }
}

/** One page, and what a user does in it. */
class Page {
  #session;

  constructor(session) {
    this.#session = session;
  }

  static async open(driver) {
    const options = { binary: miniBrowser, args: ['--automation'] };
    const wanted = { alwaysMatch: { 'webkitgtk:browserOptions': options } };
    await answering(`${driver}/status`);
    const { sessionId } = await ask(`${driver}/session`, { capabilities: wanted });
    const session = `${driver}/session/${sessionId}`;
    await ask(`${session}/timeouts`, { script: 600_000 });
    return new Page(session);
  }

  /** Shows the page at a URL, once it is loaded. */
  async show(url) {
    await ask(`${this.#session}/url`, { url });
  }

  /** Makes the page this large, in CSS pixels. */
  async resize(width, height) {
    const size = '() => [window.innerWidth, window.innerHeight]';
    let [across, down] = [width, height];
    for (let tries = 0; tries < 50; tries += 1) {
      await ask(`${this.#session}/window/rect`, { x: 0, y: 0, width: across, height: down });
      const [has, high] = await this.run(size);
      if (has === width && high === height) return;
      // The window has a frame and a bar of its own.
      [across, down] = [across + width - has, down + height - high];
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the page is not ${width} × ${height}`);
  }

  /** The value of a function's source that may take its time, called with these arguments. */
  async run(source, ...args) {
    const script = `const done = arguments[arguments.length - 1];
      const given = [...arguments].slice(0, -1);
      Promise.resolve().then(() => (${source})(...given))
        .then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    const told = await ask(`${this.#session}/execute/async`, { script, args });
    if (told.error) throw new Error(told.error);
    return told.value;
  }

  /** Presses an element that `run` returned. */
  async click(element) {
    const [id] = Object.values(element);
    await ask(`${this.#session}/element/${id}/click`, {});
  }

  /** Presses keys together, the first held longest. */
  async press(keys) {
    const down = keys.map((value) => ({ type: 'keyDown', value }));
    const up = keys.toReversed().map((value) => ({ type: 'keyUp', value }));
    await this.#keys([...down, ...up]);
  }

  /** Types into what has the keyboard. */
  async type(text) {
    const strokes = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.#keys(strokes);
  }

  async close() {
    await fetch(this.#session, { method: 'DELETE' });
  }

  async #keys(actions) {
    const keyboard = { type: 'key', id: 'keyboard', actions };
    await ask(`${this.#session}/actions`, { actions: [keyboard] });
  }
}

async function answering(url) {
  for (let tries = 0; tries < 200; tries += 1) {
    const there = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (there) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('WebKitWebDriver does not answer: install webkit2gtk-driver and xvfb.');
}

async function ask(url, body) {
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  const { value } = await answer.json();
  if (!answer.ok) throw new Error(`WebKitWebDriver: ${value.message}`);
  return value;
}

async function freePort() {
  const socket = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => socket.once('listening', resolve));
  const { port } = socket.address();
  await new Promise((resolve) => socket.close(resolve));
  return port;
}
