import { Agent, get } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** URL, requests a second, seconds; the paths in turn follow. */
const [, , url = "", rate = "", seconds = "", ...paths] = process.argv;
const agent = new Agent({ keepAlive: true });
const between = 1_000 / Number(rate);
const count = Number(rate) * Number(seconds);

/** Milliseconds since `due`, so that one late answer makes none of the next look early. */
function ask(path: string, due: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = get(new URL(path, url), { agent }, (answer) => {
      if (answer.statusCode !== 200)
        reject(new Error(`${path}: ${answer.statusCode}`));
      answer.resume().once("end", () => resolve(performance.now() - due));
    });
    sent.once("error", reject);
  });
}

const asked: Promise<number>[] = [];
const start = performance.now();
while (asked.length < count) {
  const due = start + asked.length * between;
  if (performance.now() < due) await pause(1);
  else asked.push(ask(paths[asked.length % paths.length] ?? "", due));
}
process.stdout.write(JSON.stringify(await Promise.all(asked)));
