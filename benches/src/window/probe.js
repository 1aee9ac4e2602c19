// Put into the page by its driver: counts what reaches it from the application, how long its code works
// on that, and its frames. The clock of the engine has whole milliseconds, so work begins at a random
// part of one: then the sum of many short times is right, whatever pace they come at.
const { callbacks } = window.__TAURI_INTERNALS__;
const add = Map.prototype.set;
const probe = { busy: 0, messages: 0, frames: 0, longest: 0, most: 0, inFrame: 0, last: 0 };
window.probe = probe;

let waste = 0;
const spin = (rounds) => {
  for (let round = 0; round < rounds; round += 1) waste = (waste * 31 + round) % 1_000_003;
};
let rounds = 100_000;
for (let took = 0; took < 40; rounds *= 2) {
  const begun = performance.now();
  spin(rounds);
  took = performance.now() - begun;
  probe.millisecond = rounds / took;
}

// Work that was deferred to the end of the task counts as well; some of it defers more.
const settled = (depth, then) => {
  if (depth === 0) then();
  else queueMicrotask(() => settled(depth - 1, then));
};

let working = false;
const counted = (callback, depth) => (data) => {
  probe.messages += 1;
  probe.inFrame += 1;
  if (working) return callback(data);
  working = true;
  spin(Math.random() * probe.millisecond);
  const begun = performance.now();
  callback(data);
  settled(depth, () => {
    probe.busy += performance.now() - begun;
    working = false;
  });
};

// The feed draws in the task it comes in; an answer to a call is waited for in several places.
for (const [id, callback] of [...callbacks]) add.call(callbacks, id, counted(callback, 4));
callbacks.set = (id, callback) => add.call(callbacks, id, counted(callback, 40));

const frame = () => {
  const now = performance.now();
  if (probe.last > 0) {
    probe.frames += 1;
    probe.longest = Math.max(probe.longest, now - probe.last);
    probe.most = Math.max(probe.most, probe.inFrame);
  }
  probe.inFrame = 0;
  probe.last = now;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
