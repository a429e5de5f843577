import { channel } from "node:diagnostics_channel";
import files, { readFileSync, unlinkSync } from "node:fs";
import promises, { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import type { CrashPoint } from "../world/life.ts";

// Loaded into a process of provender before all else: once the file that
// PROVENDER_MODEL_DEATH names is there, the process kills itself (SIGKILL) before or
// after one of its next writes to files or to a bucket.

const order = process.env.PROVENDER_MODEL_DEATH ?? "";
let point: CrashPoint | undefined;

/** Counts a write; true where the process has to die once it is done. */
function begin(): boolean {
  point ??= takeOrder();
  if (point === undefined) return false;
  const { writes, when } = point;
  point = { writes: writes - 1, when };
  if (writes > 0) return false;
  if (when === "before") die();
  return true;
}

function takeOrder(): CrashPoint | undefined {
  try {
    const text = readFileSync(order, "utf8");
    unlinkSync(order);
    return JSON.parse(text) as CrashPoint;
  } catch {
    return undefined;
  }
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

type Write = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** Has the process die at writes by one method. */
function watch(methods: object, name: string): void {
  const all = methods as Record<string, Write>;
  const write = all[name];
  if (write === undefined) throw new Error(`no ${name} to watch`);
  all[name] = async function (...args) {
    const dies = begin();
    const result = await write.apply(this, args);
    if (dies) die();
    return result;
  };
}

const handle = await open("/dev/null");
const handles = Object.getPrototypeOf(handle) as object;
await handle.close();
for (const name of ["write", "writeFile", "appendFile", "sync"])
  watch(handles, name);
for (const name of ["rename", "link", "rm", "writeFile"]) watch(promises, name);
if (promises !== files.promises) throw new Error("not one set of functions");
syncBuiltinESMExports();

interface Sent {
  readonly request: { readonly method: string };
}

const last = new WeakSet<object>();
channel("undici:request:create").subscribe((sent) => {
  const { request } = sent as Sent;
  if (!["GET", "HEAD"].includes(request.method) && begin()) last.add(request);
});
channel("undici:request:headers").subscribe((sent) => {
  if (last.has((sent as Sent).request)) die();
});
