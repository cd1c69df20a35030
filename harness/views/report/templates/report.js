"use strict";
// Without this script, the page shows all steps below each other. With the script, it shows one step at a time.
document.documentElement.classList.add("scripted");

class Timeline {
  constructor(element) {
    this.element = element;
    this.steps = [...element.querySelectorAll(".step")];
    this.marks = [...element.querySelectorAll(".track a")];
    this.output = element.querySelector("output");
    this.buttons = Object.fromEntries([...element.querySelectorAll("[data-go]")].map((b) => [b.dataset.go, b]));
    for (const [where, button] of Object.entries(this.buttons)) {
      button.addEventListener("click", () => this.go(where));
    }
    this.marks.forEach((mark, number) => mark.addEventListener("click", (event) => {
      event.preventDefault();
      this.show(number);
    }));
    for (const type of ["pointerdown", "focusin"]) element.addEventListener(type, () => { current = this; });
    const parting = this.steps.findIndex((step) => step.classList.contains("parts"));
    const broken = this.steps.findIndex((step) => step.querySelector("p.broken"));
    this.show([parting, broken].find((number) => number > 0) ?? this.steps.length - 1);
  }

  show(number) {
    this.number = Math.max(0, Math.min(number, this.steps.length - 1));
    this.steps.forEach((step, i) => step.classList.toggle("shown", i === this.number));
    this.marks.forEach((mark, i) => (i === this.number)
      ? mark.setAttribute("aria-current", "step") : mark.removeAttribute("aria-current"));
    const ends = this.steps.at(-1).dataset.end; // the last step may show the partition after the schedule
    const last = this.steps.length - (ends ? 2 : 1);
    this.output.textContent = this.number > last ? `${ends}, after step ${last}` : `step ${this.number} of ${last}`;
    for (const where of ["first", "back"]) this.buttons[where].disabled = this.number === 0;
    for (const where of ["forward", "last"]) this.buttons[where].disabled = this.number === this.steps.length - 1;
  }

  go(where) {
    const last = this.steps.length - 1;
    this.show({ first: 0, back: this.number - 1, forward: this.number + 1, last }[where]);
  }
}

let current = null; // the timeline that keys step through: the last used one, initially the first
const timelines = [...document.querySelectorAll(".timeline")].map((element) => new Timeline(element));
current = timelines[0] ?? null;

const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
document.addEventListener("keydown", (event) => {
  if (!current || !(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  current.go(KEYS[event.key]);
});

// A link to a step, such as #m1-loss-16, shows this step.
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const timeline of timelines) {
    const number = timeline.steps.indexOf(target);
    if (number >= 0) {
      timeline.show(number);
      current = timeline;
      timeline.element.scrollIntoView();
    }
  }
}
addEventListener("hashchange", follow);
follow();

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      // if the browser denies access to the clipboard, selects the text so that the user can copy it
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
