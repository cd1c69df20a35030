// A subject of 30 lines: replication where A leads for ever and nobody dies. What else can happen, it does not list.
let config, replicas, fetched, answers, produced; // replicas: as they are to be observed
const apply = { // the events it has: each says whether it was enabled
  produce: (name) => name === "A" && (replicas.A.log.push([`m${produced++}`, 0]), advance()),
  fetch(name) {
    if (name === "A" || answers[name]) return false;
    const from = (fetched[name] = replicas[name].leo);
    advance();
    answers[name] = { log: replicas.A.log.slice(from, from + config.records_per_fetch), hw: replicas.A.hw };
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
function advance() { // A's high watermark: what everyone has, as far as their fetches showed
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
