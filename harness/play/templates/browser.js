"use strict";
// The transport of the playground on a site without a server: a worker that runs epochfuzz in Pyodide takes the
// server's place.

const MOST_SECONDS = 60; // to compute a page once Python runs
const TOO_LONG = `<main tabindex="-1"><header><p class="tool">epochfuzz play</p><h1>This position takes too long</h1></header>
<p class="why" id="mistake">The browser has computed for ${MOST_SECONDS} seconds. Shorten the schedule, or show fewer
protocols.</p><p class="hint">Go back, or <a href="./">start over</a>.</p></main>`;

let worker = null;
let requests = 0;
const waiting = new Map(); // the functions that complete each request, by its number

let isFirst = true;

globalThis.sendToWorker = async (address) => {
  const query = new URL(address, document.baseURI).search.slice(1);
  const kept = isFirst ? await opened(document.querySelector("main").dataset.loading) : null;
  isFirst = false;
  worker ??= started();
  const before = (await prepared(query)) ?? (await kept?.match(`?${query}`));
  if (before) return before;
  const response = await compute(query);
  if (response.ok) await kept?.put(`?${query}`, response.clone());
  return response;
};

// Python takes seconds to start. So the site contains the pages to which it links, and all pages of the first stories.
// For other queries, the result is null.
let index = null;
async function prepared(query) {
  index ??= fetch("prepared/index.json").then((response) => response.json());
  const pages = await index;
  return Object.hasOwn(pages, query) ? fetch(`prepared/${pages[query]}.txt`) : null;
}

// The browser stores the first page of each visit, and shows it at the next visit while Python starts. `version` is the
// version of the code that computed the pages.
async function opened(version) {
  if (!globalThis.caches) return null; // on a site without HTTPS
  const name = `epochfuzz-play-${version}`;
  for (const each of await caches.keys()) if (each.startsWith("epochfuzz-play-") && each !== name) caches.delete(each);
  return caches.open(name);
}

function compute(query) {
  return new Promise((resolve, reject) => {
    worker ??= started();
    const request = ++requests;
    waiting.set(request, { resolve, reject });
    worker.postMessage({ request, query });
  });
}

// A worker from a blob has the content security policy of this page. A worker from a URL has none, because a site of
// static files sends no headers.
function started() {
  const source = `import ${JSON.stringify(new URL("worker.js", document.baseURI).href)};`;
  const blob = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const started = new Worker(blob, { type: "module" });
  started.addEventListener("message", ({ data }) => HEARD[data.kind](data));
  started.addEventListener("error", (event) => fail(event.message ?? "the worker did not start"));
  return started;
}

let timer = null;
const HEARD = {
  doing({ what }) {
    document.getElementById("doing").textContent = what;
  },
  begun() {
    timer = setTimeout(giveUp, MOST_SECONDS * 1000);
  },
  answer({ request, status, text }) {
    clearTimeout(timer);
    HEARD.doing({ what: "" });
    waiting.get(request).resolve(new Response(text, { status }));
    waiting.delete(request);
  },
  failure({ why }) {
    fail(why);
  },
};

function giveUp() {
  end((each) => each.resolve(new Response(TOO_LONG, { status: 503 })));
}

function fail(why) {
  console.error(why);
  end((each) => each.reject(new Error(why)));
}

// Ends the worker, and every request that waits for it. The next request starts another worker.
function end(request) {
  clearTimeout(timer);
  HEARD.doing({ what: "" });
  worker?.terminate();
  worker = null;
  for (const each of waiting.values()) request(each);
  waiting.clear();
}
