// An adapter of thirty lines. Replica A leads forever, and no broker dies. Other events are not supported.
let config, replicas, fetched, answers, produced; // replicas: the observation of each replica
const apply = { // the supported events; each returns whether it was applied
  produce: (name) => name === "A" && (replicas.A.log.push([`m${produced++}`, 0]), advance()),
  fetch(name) {
    if (name === "A" || answers[name]) return false;
    const from = replicas[name].leo;
    const [log, before] = [replicas.A.log.slice(from, from + config.records_per_fetch), replicas.A.hw];
    fetched[name] = from;
    advance();
    answers[name] = { log, hw: log.length ? before : replicas.A.hw }; // a fetch without records has waited
    return true;
  },
  receive(name) {
    if (!answers[name]) return false;
    replicas[name].log.push(...answers[name].log);
    replicas[name].hw = Math.min(replicas[name].leo, answers[name].hw);
    return apply.drop(name);
  },
  drop: (name) => name in answers && delete answers[name],
};
function advance() { // sets A's high watermark to the smallest log end offset that A knows from the fetches
  const ends = Object.keys(replicas).map((name) => (name === "A" ? replicas.A.leo : fetched[name] ?? 0));
  return (replicas.A.hw = Math.max(replicas.A.hw, Math.min(...ends))) >= 0;
}
function reset(request) {
  [config, replicas, fetched, answers, produced] = [request.config, {}, {}, {}, 0];
  for (const name of [..."ABCDE"].slice(0, config.replicas)) {
    replicas[name] = { up: true, log: [], hw: 0, leader: "A", leader_epoch: 0, get leo() { return this.log.length; } };
  }
  return { ok: true, events: Object.keys(apply) };
}
const observe = () => ({ replicas, controller: { leader: "A", epoch: 0, isr: Object.keys(replicas) } });
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  const [verb, name] = (request.event ?? "").split(" ");
  console.log(JSON.stringify(verb ? { applied: apply[verb](name), observation: observe() } : reset(request)));
});
