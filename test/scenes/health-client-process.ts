import { setTimeout as pause } from "node:timers/promises";

const url = new URL("/healthz", process.argv[2]);
const taken: number[] = [];
const ended = new AbortController();
process.stdin.resume().once("end", () => ended.abort());

async function ask(): Promise<void> {
  const before = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`/healthz: ${answer.status}`);
  taken.push(performance.now() - before);
}

// The first one opens the connection.
await ask();
taken.length = 0;
process.stdout.write("ready\n");
do {
  await ask();
  await pause(5);
} while (!ended.signal.aborted);
process.stdout.write(JSON.stringify(taken));
