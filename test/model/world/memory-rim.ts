import { parseHostname } from "../../../src/address/hostname.ts";
import { readPending } from "../../../src/mirror/trust/pending-decisions.ts";
import { Violation } from "../oracle/violation.ts";
import type { Action } from "./actions.ts";
import { readFailure, readUnforeseen, type Answer } from "./answers.ts";
import type { ReleaseName } from "./documents.ts";
import { Life, type CrashPoint } from "./life.ts";
import { MemoryMachine } from "./memory-machine.ts";
import {
  composeTrust,
  MirrorProcess,
  type Ask,
  type Imported,
} from "./mirror-process.ts";
import type { Offer, Registry } from "./registry.ts";
import { hostname, namespace, rulesOf, type Settings } from "./settings.ts";
import { parseArgs } from "node:util";
import {
  parseReleaseSpec,
  parseTrustScope,
} from "../../../src/address/spec.ts";
import {
  decideContent,
  decideKey,
  type Deed,
} from "../../../src/commands/trust/decide.ts";
import { failure } from "../../../src/errors/index.ts";
import { parseFingerprint } from "../../../src/verification/fingerprints.ts";

/** Result of a `trust` command. */
export interface Ran {
  readonly answer: Answer;
  readonly stdout: string;
}

/** The real core and its rim in this process, over modelled storage, origins and clocks. */
export class MemoryRim {
  readonly machine: MemoryMachine;
  /** Called for each process that starts. */
  onStart: () => void = () => undefined;
  readonly #processes: MirrorProcess[];
  readonly #realNow = performance.now.bind(performance);
  #settings: Settings;
  #commandCrash: CrashPoint | undefined;

  constructor(registry: Registry, settings: Settings, count: number) {
    this.#settings = settings;
    this.machine = new MemoryMachine(registry);
    // Some parts of the mirror take this clock for the monotonic one.
    performance.now = () => this.machine.clock.monotonic();
    this.#processes = Array.from({ length: count }, () => this.#start());
  }

  get size(): number {
    return this.#processes.length;
  }

  get disk() {
    return this.machine.disk;
  }

  ask(index: number, asked: Ask): Promise<Answer> {
    return settle(this.#process(index).ask(asked).catch(readUnforeseen));
  }

  async askAtOnce(
    { asks, pace }: Action & { readonly kind: "burst" },
    change: () => void,
  ) {
    for (const [at, { process }] of asks.entries())
      this.#process(process).life.paceBy(pace + at);
    const answers = asks.map((asked) =>
      this.#process(asked.process).ask(asked).catch(readUnforeseen),
    );
    for (let turn = 0; turn < pace % 60; turn++) await Promise.resolve();
    change();
    const all = await settle(Promise.all(answers));
    for (const { process } of asks)
      this.#process(process).life.paceBy(undefined);
    return all;
  }

  async runTrust(args: readonly string[]): Promise<Ran> {
    const life = new Life();
    life.crashAt(this.#commandCrash);
    this.#commandCrash = undefined;
    let stdout = "";
    const command = runTrustCommand(this.#mirrorOf(life), args);
    const done = command.then(({ text }): Answer => {
      stdout = text;
      return { kind: "done" };
    });
    const dead = life.died.then((): Answer => ({ kind: "dead" }));
    const first = Promise.race([done.catch(readFailure), dead]);
    const answer = await settle(first.catch(readUnforeseen));
    return { answer, stdout };
  }

  /** What `trust list` says of a release that needs a decision. */
  async listPending({ type, version }: ReleaseName) {
    const { trust } = composeTrust(this.machine, new Life());
    const provider = { hostname: parseHostname(hostname), namespace, type };
    const rules = rulesOf(this.#settings);
    const listed = readPending(trust, provider, rules).catch(
      (error: unknown) => {
        readFailure(error);
        return [];
      },
    );
    const pending = await settle(listed.catch(readUnforeseen));
    return pending.filter((one) => one.version === version);
  }

  importOffers(index: number, offers: readonly Offer[]): Promise<Imported> {
    return settle(this.#process(index).import(offers));
  }

  restart(index: number): void {
    this.#processes[index % this.size]?.life.end();
  }

  crash(index: number, point: CrashPoint): void {
    if (index < this.size) this.#process(index).life.crashAt(point);
    else this.#commandCrash = point;
  }

  configure(change: Partial<Settings>, settings: Settings): void {
    this.#settings = settings;
    if (change.profile === undefined)
      for (const one of this.#processes) one.configure(settings);
    else for (const index of this.#processes.keys()) this.restart(index);
  }

  close(): void {
    performance.now = this.#realNow;
  }

  /** As a command has it that reaches no origin. */
  #mirrorOf(life: Life): Parameters<typeof decideContent>[0] {
    return {
      ...composeTrust(this.machine, life),
      admission: { rules: rulesOf(this.#settings) },
      catalog: { releases: { peek: () => Promise.resolve(undefined) } },
      providers: {
        findRelease: () => Promise.reject(failure("not-found", "a release")),
      },
    };
  }

  /** Finds a process, which is started again if it died. */
  #process(index: number): MirrorProcess {
    const at = index % this.#processes.length;
    const found = this.#processes[at];
    if (found !== undefined && !found.life.isDead) return found;
    return (this.#processes[at] = this.#start());
  }

  #start(): MirrorProcess {
    this.onStart();
    return new MirrorProcess(this.machine, this.#settings);
  }
}

/** Turns of the event loop in which every answer comes: nothing in a sequence waits for time. */
const patience = 200;

/** Waits for an answer and for what goes on after it. Throws Violation when it never comes. */
async function settle<T>(answer: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const done = () => {
    state.isDone = true;
  };
  answer.then(done, done);
  for (let turn = 0; turn < patience && !state.isDone; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  if (!state.isDone) throw new Violation(0, "a question was never answered");
  return answer;
}

/** Carries out `provender trust` with these arguments in this process. */
async function runTrustCommand(
  mirror: Parameters<typeof decideContent>[0],
  args: readonly string[],
): ReturnType<typeof decideContent> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { key: { type: "string" }, for: { type: "string" } },
  });
  const [verb, spec = "", digest] = positionals;
  const { key, for: scope = "" } = values;
  const deed = verb as Deed;
  const configured = new Set([parseHostname(hostname)]);
  const hosts = { configured, allowsOthers: false };
  return key === undefined
    ? decideContent(mirror, parseReleaseSpec(spec, hosts), digest, deed)
    : decideKey(
        ...([mirror, parseTrustScope(scope, hosts)] as const),
        ...([parseFingerprint(key), deed] as const),
      );
}
