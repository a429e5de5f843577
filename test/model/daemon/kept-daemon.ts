import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  startMirror,
  type RunningMirror,
  writeConfiguration,
} from "../../running-mirror.ts";
import type { CrashPoint } from "../world/life.ts";
import type { Settings } from "../world/settings.ts";
import type { Site } from "./site.ts";

export type LogLine = Readonly<Record<string, unknown>>;

/** Starts that are tried: a process may be killed while it starts. */
const mostTries = 3;

/** A daemon that is started again after it died, on the same store. */
export class KeptDaemon {
  /** Storage directory. */
  readonly directory: string;
  /** Logs of its processes, those that ended included. */
  readonly logs: (readonly LogLine[])[] = [];
  readonly #site: Site;
  readonly #onStart: () => void;
  readonly #onDeath: () => void;
  /** File that has the process die at a write. */
  readonly #death: string;
  #mirror: RunningMirror | undefined;

  constructor(
    site: Site,
    index: number,
    events: { readonly onStart: () => void; readonly onDeath: () => void },
  ) {
    this.#site = site;
    this.#onStart = events.onStart;
    this.#onDeath = events.onDeath;
    this.directory = join(site.folder, `store-${index}`);
    this.#death = join(site.folder, `death-${index}`);
  }

  /** Returns the running process, or starts one. */
  async find(settings: Settings): Promise<RunningMirror> {
    if (this.#mirror !== undefined && isDead(this.#mirror))
      this.bury(this.#mirror);
    for (let tried = 1; this.#mirror === undefined; tried++)
      try {
        this.#mirror = await this.#start(settings);
      } catch (error) {
        if (tried === mostTries) throw error;
      }
    return this.#mirror;
  }

  /** Notes that a process died. */
  bury(mirror: RunningMirror): void {
    if (this.#mirror === mirror) this.#mirror = undefined;
    this.#onDeath();
  }

  crashAt({ writes, when }: CrashPoint): void {
    writeFileSync(this.#death, JSON.stringify({ writes, when }));
  }

  async stop(): Promise<void> {
    const mirror = this.#mirror;
    this.#mirror = undefined;
    await mirror?.stop();
  }

  async kill(): Promise<void> {
    await this.#mirror?.kill();
  }

  /** Has the process read its configuration again. */
  async reload(settings: Settings): Promise<void> {
    const mirror = this.#mirror;
    if (mirror === undefined) return;
    const config = this.#site.configure(this.directory, settings);
    writeConfiguration(mirror.configFile, config);
    const count = () =>
      mirror.log.filter(({ msg }) => msg === "policy and trust loaded").length;
    const before = count();
    mirror.process.kill("SIGHUP");
    while (count() === before && !isDead(mirror)) await delay(10);
  }

  async #start(settings: Settings): Promise<RunningMirror> {
    this.#onStart();
    const { directory } = this;
    const mirror = await startMirror({
      directory,
      config: this.#site.configure(directory, settings),
      env: { ...this.#site.env, PROVENDER_MODEL_DEATH: this.#death },
    });
    this.logs.push(mirror.log);
    return mirror;
  }
}

function isDead({ process }: RunningMirror): boolean {
  return process.exitCode !== null || process.signalCode !== null;
}

/** True when a process has ended, or does within a moment. */
export async function hasDied(mirror: RunningMirror): Promise<boolean> {
  if (isDead(mirror)) return true;
  const ended = once(mirror.process, "exit").then(() => true);
  return Promise.race([ended, delay(1_000, false)]);
}

/** Waits until the log has what a daemon wrote before it answered. */
export async function awaitLog(mirror: RunningMirror): Promise<void> {
  const { headers } = await mirror.get("/healthz");
  const id = headers["x-request-id"];
  const isThere = () => mirror.log.some(({ requestId }) => requestId === id);
  for (let tried = 0; tried < 200 && !isThere(); tried++) await delay(5);
}
