// The worker of the playground. It runs epochfuzz in Pyodide, and responds to the requests of browser.js.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = new URL("./", import.meta.url).href;
const ready = start();

async function start() {
  tell("Loading Python …");
  const archive = fetch(`${here}epochfuzz.zip`).then((response) => {
    if (!response.ok) throw new Error(`epochfuzz.zip: ${response.status}`);
    return response.arrayBuffer();
  });
  const pyodide = await loadPyodide({ indexURL: `${here}pyodide/` });
  tell("Loading epochfuzz …");
  pyodide.unpackArchive(await archive, "zip", { extractDir: "/epochfuzz" });
  pyodide.runPython("import sys; sys.path.insert(0, '/epochfuzz')");
  const browser = pyodide.pyimport("epochfuzz.harness.play.browser");
  tell("");
  return browser;
}

function tell(what) {
  postMessage({ kind: "doing", what });
}

addEventListener("message", async ({ data: { request, query } }) => {
  try {
    const browser = await ready;
    tell("Replaying the schedule …");
    postMessage({ kind: "begun" });
    postMessage({ kind: "answer", request, ...JSON.parse(browser.answer(query)) });
  } catch (error) {
    postMessage({ kind: "failure", why: String(error) });
  }
});
