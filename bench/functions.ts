import { setTimeout } from "node:timers/promises";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { findFreePort } from "../test/acceptance/servers.ts";
import { startDaemon } from "./daemon.ts";
import { fetchDocument } from "./download.ts";
import { mirrorPath, publishManyVersions, startOrigin } from "./origin.ts";
import { Scene } from "./row.ts";

/**
 * How many functions of `src`, in how many files, the daemon's main thread
 * enters for one request, by V8's precise coverage. `--list WARM-INDEX` names
 * them for one row.
 */
const { values } = parseArgs({ options: { list: { type: "string" } } });

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly {
    readonly startOffset: number;
    readonly count: number;
  }[];
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly FunctionCoverage[];
}

await using scene = new Scene();
const origin = scene.add(await startOrigin());
// Another namespace: its first key is its own.
await origin.registry.publish({
  ...{ namespace: "other", type: "fresh", version: "1.0.0" },
});
await publishManyVersions(origin.registry);
const inspector = `127.0.0.1:${await findFreePort()}`;
const flags = [`--inspect=${inspector}`];
const daemon = scene.add(await startDaemon(origin.config, undefined, flags));
const profiler = await attach(inspector);
scene.add({ stop: profiler.close });
await profiler.call("Profiler.enable");
await profiler.call("Profiler.startPreciseCoverage", { callCount: true });

const ask = (path: string) => fetchDocument(daemon.url + path, daemon.ca);
const demo = mirrorPath("demo");
const archive = `${demo}terraform-provider-demo_1.0.0_linux_amd64.zip`;
await trace(
  "first VERSION.json",
  `${mirrorPath("fresh").replace("acme", "other")}1.0.0.json`,
);
await trace("first index.json", `${demo}index.json`);
await trace("cold archive", archive);
// The archive is hashed afterwards, and the first answer from memory makes what
// the later ones share.
await setTimeout(500);
for (const path of [archive, `${demo}index.json`, `${demo}1.0.0.json`])
  await ask(path);
await trace("warm index.json", `${demo}index.json`);
await trace("warm VERSION.json", `${demo}1.0.0.json`);
await trace("warm archive", archive);

async function trace(name: string, path: string): Promise<void> {
  // What the request before this one left to do, such as its line of the log.
  await setTimeout(500);
  await profiler.call("Profiler.takePreciseCoverage");
  await ask(path);
  const { result } = (await profiler.call("Profiler.takePreciseCoverage")) as {
    readonly result: readonly ScriptCoverage[];
  };
  const entered = result.flatMap(({ url, functions }) => {
    const [, file] = /\/src\/(.*)$/.exec(url) ?? [];
    if (file === undefined || url.includes("node_modules")) return [];
    return functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => `${file} ${functionName}`);
  });
  const files = new Set(entered.map((one) => one.split(" ", 1)[0]));
  console.log(
    `${name.padEnd(20)}${String(entered.length).padStart(4)} functions in ${String(files.size).padStart(3)} files`,
  );
  if (values.list === name) console.log(entered.toSorted().join("\n"));
}

/** The inspector of a process that listens there, as far as this needs it. */
async function attach(address: string) {
  const answer = await fetch(`http://${address}/json`);
  const [target] = (await answer.json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
  await once(socket, "open");
  let last = 0;
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as {
      readonly id?: number;
      readonly result?: unknown;
    };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  return {
    call: (method: string, params: object = {}) => {
      const id = ++last;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
      return promise.finally(() => waiting.delete(id));
    },
    close: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
}
