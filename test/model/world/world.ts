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
import { readPending } from "../../../src/mirror/trust/pending-decisions.ts";
import type { Database } from "../../../src/store/database/transactions.ts";
import type { RecordKey } from "../../../src/store/records/record-store.ts";
import { parseFingerprint } from "../../../src/verification/fingerprints.ts";
import { TestClock } from "../../fakes/clock.ts";
import {
  hostname,
  namespace,
  providerOf,
} from "../../scenes/composed-mirror.ts";
import { Oracle } from "../oracle/oracle.ts";
import { Violation } from "../oracle/violation.ts";
import { readFailure, type Answer, type Ask } from "./answers.ts";
import type { ReleaseName } from "./documents.ts";
import {
  composeCommand,
  type MirrorProcess,
  startProcess,
} from "./mirror-process.ts";
import { type CrashPoint, Life, ModelDisk } from "./records.ts";
import { type Lie, type Offer, Publisher, Registry } from "./registry.ts";
import {
  modelTimes,
  plans,
  rulesOf,
  type Settings,
  type WorldName,
} from "./settings.ts";

/** What a sequence is played against: the real core and its rim in this process, over a real database, and modelled origins and clocks. */
export class World {
  readonly clock = new TestClock();
  readonly disk: ModelDisk;
  /** Facts of alarms as they were raised. */
  readonly alarms: Readonly<Record<string, unknown>>[] = [];
  readonly registry: Registry;
  readonly publisher: Publisher;
  readonly oracle: Oracle;
  readonly #spoilt: RecordKey[] = [];
  readonly #processes: MirrorProcess[];
  readonly #realNow = performance.now.bind(performance);
  #commandCrash: CrashPoint | undefined;
  settings: Settings;

  constructor(name: WorldName, database: Database) {
    this.disk = new ModelDisk(database);
    const { signer, processes, ...settings } = plans[name];
    this.settings = settings;
    this.publisher = new Publisher(signer);
    this.registry = new Registry(this.publisher);
    this.oracle = new Oracle(this, settings);
    // Some parts of the mirror take this clock for the monotonic one.
    performance.now = () => this.clock.monotonic();
    const start = () => startProcess(this, settings);
    this.#processes = Array.from({ length: processes }, start);
  }

  /** Ends its processes, and then what they ask, at the next turn. */
  async close(): Promise<void> {
    performance.now = this.#realNow;
    for (const { life } of this.#processes) life.end();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Number of processes that share the store. */
  get size(): number {
    return this.#processes.length;
  }

  /** The wall clock. */
  get now(): number {
    return this.clock.now().getTime();
  }

  /** Waits until the mirror asks the registry again. */
  outlast(): void {
    this.clock.pass(modelTimes.outlast);
  }

  lie(lie: Lie): void {
    this.registry.lie(lie, this.now);
  }

  configure(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
    this.oracle.settings = this.settings;
    if (change.profile === undefined)
      for (const one of this.#processes) one.configure(this.settings);
    else for (const index of this.#processes.keys()) this.restart(index);
  }

  restart(index: number): void {
    this.#processes[index % this.size]?.life.end();
  }

  crash(index: number, point: CrashPoint): void {
    if (index < this.size) this.#process(index).life.crash = point;
    else this.#commandCrash = point;
  }

  /** Loses or damages a record, after which what depends on it may be refused. */
  async spoil(which: number, how: "lose" | "damage"): Promise<string> {
    const { records } = this.disk;
    const keys = await Array.fromAsync(records.listAll());
    const key = keys[which % Math.max(1, keys.length)];
    if (key === undefined) return "nothing to spoil";
    const record = key.join("/");
    const isOfTrust = ["namespaces", "first_contacts", "candidates"];
    if (how === "lose" && isOfTrust.includes(key[0]))
      return "a row of trust, which is not lost alone";
    await records.remove(key);
    if (how === "damage") await records.swap(key, 0, "");
    this.#spoilt.push(key);
    const [table, , , type = "", version = ""] = key;
    if (table === "releases") this.oracle.first.forget({ type, version });
    return record;
  }

  /** True when something that a provider depends on may be unknown. */
  hasLost(type: string): boolean {
    return this.#spoilt.some(
      (key) => key.includes(type) || key.at(-1) === namespace,
    );
  }

  async ask(asked: Ask): Promise<Answer> {
    this.oracle.noteAsked(asked.type);
    const since = this.clock.monotonic();
    const answer = this.#process(asked.process).ask(asked);
    const got = await settle(answer);
    this.#judge(asked, got, since);
    this.#noteAnswered(asked, got, since);
    return got;
  }

  /** Asks a face for everything that it has of a release. */
  askFor(
    process: number,
    face: Ask["face"],
    { type, version }: ReleaseName,
    platform = "linux_amd64",
  ): Promise<Answer> {
    return this.ask({ process, face, type, version, platform });
  }

  /** Has clients ask at once, while storage and origins take their time and the registry may change its mind. */
  async burst(
    asks: readonly Ask[],
    pace: number,
    midway: Lie | undefined,
  ): Promise<readonly Answer[]> {
    const noteAsked = () => {
      for (const { type } of asks) this.oracle.noteAsked(type);
    };
    noteAsked();
    const since = this.clock.monotonic();
    for (const [at, { process }] of asks.entries())
      this.#process(process).life.paceBy(pace + at);
    const answers = asks.map((asked) =>
      this.#process(asked.process).ask(asked),
    );
    for (let turn = 0; turn < pace % 60; turn++) await Promise.resolve();
    if (midway !== undefined) this.lie(midway);
    noteAsked();
    const all = await settle(Promise.all(answers));
    for (const { process } of asks)
      this.#process(process).life.paceBy(undefined);
    const answered = asks.map((asked, at) => [asked, all[at]] as const);
    for (const [asked, answer] of answered)
      if (answer !== undefined) this.#judge(asked, answer, since);
    // Each may have been answered before the mirror learnt what another one says.
    for (const [asked, answer] of answered)
      if (answer !== undefined) this.#noteAnswered(asked, answer, since);
    return all;
  }

  #noteAnswered(asked: Ask, { kind }: Answer, since: number): void {
    const isDecided = kind === "packages" || kind === "refused";
    if (asked.face === "version" && isDecided)
      this.oracle.noteAnswered(this.#placed(asked), since);
  }

  #placed(asked: Ask): Ask {
    return { ...asked, process: asked.process % this.size };
  }

  #judge(asked: Ask, answer: Answer, since: number): void {
    const { oracle } = this;
    oracle.hasCrashed ||= answer.kind === "dead";
    if (answer.kind === "versions" && answer.versions.length > 0)
      oracle.contacts.settle(asked.type);
    if (answer.kind !== "packages") return;
    oracle.contacts.settle(asked.type);
    const served = this.#placed(asked);
    for (const [platform, sha256] of Object.entries(answer.packages))
      oracle.expectServable({ ...served, platform, sha256 }, since);
  }

  importOffers(index: number, offers: readonly Offer[]) {
    return settle(this.#process(index).import(offers));
  }

  /** Runs `provender trust` with these arguments. */
  runTrust(args: readonly string[]): Promise<Answer> {
    const life = new Life();
    life.crash = this.#commandCrash;
    this.#commandCrash = undefined;
    // As a command has it that reaches no origin.
    const mirror: Parameters<typeof decideContent>[0] = {
      ...composeCommand(this, life),
      admission: { rules: rulesOf(this.settings) },
      catalog: { releases: { peek: () => Promise.resolve(undefined) } },
      providers: {
        findRelease: () => Promise.reject(failure("not-found", "a release")),
      },
    };
    const run = async (): Promise<Answer> => {
      const { values, positionals } = parseArgs({
        args: [...args],
        allowPositionals: true,
        options: { key: { type: "string" }, for: { type: "string" } },
      });
      const [verb, spec = "", digest] = positionals;
      const { key, for: scope = "" } = values;
      const deed = verb as Deed;
      const hosts = { configured: new Set([hostname]), allowsOthers: false };
      const parsed = (text: string) => parseReleaseSpec(text, hosts);
      const { text } =
        key === undefined
          ? await decideContent(mirror, parsed(spec), digest, deed)
          : await decideKey(
              mirror,
              parseTrustScope(scope, hosts),
              parseFingerprint(key),
              deed,
            );
      return { kind: "done", text };
    };
    return settle(life.answer(run()));
  }

  /** What `trust list` says of a release that needs a decision. */
  async listPending({ type, version }: ReleaseName) {
    const { trust } = composeCommand(this, new Life());
    const rules = rulesOf(this.settings);
    const listed = readPending(trust, providerOf(type), rules);
    const pending = await settle(
      listed.catch((error: unknown) => {
        readFailure(error);
        return [];
      }),
    );
    return pending.filter((one) => one.version === version);
  }

  #process(index: number): MirrorProcess {
    const at = index % this.size;
    const found = this.#processes[at];
    if (found !== undefined && !found.life.isDead) return found;
    this.oracle.noteStart();
    return (this.#processes[at] = startProcess(this, this.settings));
  }
}

/** Turns of the event loop in which every answer comes, also of a database beside this process: nothing waits for time. */
const patience = 1_000_000;

/** Waits for an answer and for what goes on after it. Throws Violation when it never comes. */
async function settle<T>(answer: Promise<T>): Promise<T> {
  let isDone = false as boolean;
  const done = () => {
    isDone = true;
  };
  answer.then(done, done);
  for (let turn = 0; turn < patience && !isDone; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  if (!isDone) throw new Violation(0, "a question was never answered");
  return answer;
}
