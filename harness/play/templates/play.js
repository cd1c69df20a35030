"use strict";
// The server's page works without this script: each link loads a new page. The script replaces the content of the page
// instead. So the page does not jump, the focus stays, and keys step through the schedule. Searching and saving need
// the script. On a site without a server, browser.js sends the requests to a worker.

const send = globalThis.sendToWorker ?? fetch;

const page = () => document.querySelector("main");
let search = null; // the number of the running search
let visits = 0;
let arrived = Promise.resolve(); // resolves when the page of the last link is shown
let released = Promise.resolve(); // resolves when the pressed button is released

// Shows the page of an address. `record` is the function of the history that records the address, if there is one.
async function visit(address, record = "pushState") {
  stop();
  const visit = ++visits;
  const response = await ask(address);
  const text = await response.text();
  await released;
  if (visit !== visits) return; // a later visit has started
  const next = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement;
  const opened = new Map([...document.querySelectorAll("details[id]")].map((each) => [each.id, each.open]));
  page().replaceWith(next.querySelector("main"));
  document.title = next.title;
  for (const each of document.querySelectorAll("details[id]")) each.open = opened.get(each.id) ?? each.open;
  const { query } = page().dataset; // in the canonical spelling; a page with an error message has no address
  if (record) history[record](null, "", query === undefined ? address : `?${query}`);
  if (focused !== document.body) (document.getElementById(focused.id) ?? page()).focus({ preventScroll: true });
  say();
  prepare();
}

// Clicks and keys may come faster than responses. Each click waits for the page of the previous click, and follows the
// link with the same id on that page. If that page has no such link, the click does nothing.
function follow(link) {
  const go = () => {
    const address = link.id ? document.getElementById(link.id)?.href : link.href;
    return address && visit(address);
  };
  arrived = arrived.then(go, go);
}

async function ask(address, options) {
  try {
    return await send(address, options);
  } catch {
    document.getElementById("lost").hidden = false;
    return new Promise(() => {}); // never resolves, so the caller stops here
  }
}

// Announces the step and its effect to screen readers.
function say() {
  const step = document.getElementById("step");
  if (!step) return;
  const texts = [...step.querySelectorAll("h2, h3, .sentence, p.broken")].map((each) => each.textContent.trim());
  document.getElementById("said").textContent = texts.join(". ");
}

addEventListener("popstate", () => visit(location.href, null));

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const isHere = link?.origin === location.origin && link.pathname === location.pathname && !link.hash;
  if (!isHere || !plain) return;
  event.preventDefault();
  follow(link);
});

// If a link is replaced while it is pressed, the browser sends no click. So `visit` waits until the button is released.
// The click comes in the same task as the pointerup.
addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  released = new Promise((resolve) => {
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(resolve), { once: true });
  });
});

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
document.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, select, textarea, pre")) return;
  event.preventDefault();
  const link = document.getElementById(KEYS[event.key]);
  if (link) follow(link);
});

function prepare() {
  document.getElementById("settings")?.addEventListener("submit", (event) => {
    event.preventDefault();
    visit(`?${new URLSearchParams(new FormData(event.target))}`);
  });
  document.getElementById("search")?.addEventListener("submit", (event) => {
    event.preventDefault();
    start(event.target);
  });
  document.getElementById("cancel")?.addEventListener("click", cancel);
  document.getElementById("save")?.addEventListener("submit", (event) => {
    event.preventDefault();
    save(event.target, event.submitter);
  });
}

async function post(address, form = new FormData()) {
  const response = await ask(address, { method: "POST", body: new URLSearchParams(form) });
  if (response.ok) return response.json();
  const text = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("mistake");
  return { answer: text?.textContent ?? `epochfuzz answered ${response.status}` };
}

// Cancels the running search, if there is one, and ignores its result.
function stop() {
  if (search !== null) post(`search/${search}/cancel`);
  search = null;
}

// Cancels the running search, and still shows its result.
function cancel() {
  if (search !== null) post(`search/${search}/cancel`);
}

async function start(form) {
  stop();
  const box = document.getElementById("answer");
  busy(box, true, "");
  const begun = await post(form.dataset.action, new FormData(form));
  if (begun.search === undefined) return busy(box, false, begun.answer);
  search = begun.search;
  while (search === begun.search) {
    const response = await ask(`search/${begun.search}`);
    if (search !== begun.search) return;
    const seen = response.ok ? await response.json() : { answer: "A later search has replaced this one." };
    if (seen.answer) {
      search = null;
      busy(box, false, seen.answer);
      if (seen.events) offer(box, seen);
    } else {
      busy(box, true, `${seen.doing} …`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function busy(box, is, text) {
  box.classList.toggle("busy", is);
  box.textContent = text;
  document.getElementById("cancel").hidden = !is;
}

function offer(box, seen) {
  const way = document.createElement("p");
  way.textContent = seen.events.join(", ");
  const link = document.createElement("a");
  link.className = "button";
  link.id = "take";
  link.href = seen.address;
  link.textContent = "Step through this schedule";
  box.append(way, link);
}

async function save(form, submitter) {
  const fields = new FormData(form, submitter);
  const done = await post(form.dataset.action, fields);
  const box = form.querySelector(".answer");
  box.textContent = done.answer;
  form.querySelector("[name=replace]").hidden = !done.is_there;
  if (done.command) {
    const code = document.createElement("code");
    code.textContent = done.command;
    box.append(document.createElement("br"), code);
  }
}

if (page().dataset.loading === undefined) prepare();
else visit(location.href, "replaceState");
