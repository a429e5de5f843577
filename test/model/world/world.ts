import type { RecordKey } from "../../../src/store/layout.ts";
import { Oracle } from "../oracle/oracle.ts";
import { Violation } from "../oracle/violation.ts";
import { readUnforeseen, type Answer } from "./answers.ts";
import { applyLie } from "./lies.ts";
import type { Lie } from "./actions.ts";
import { types, versions, type ReleaseName } from "./documents.ts";
import type { CrashPoint } from "./life.ts";
import { Machine } from "./machine.ts";
import { MirrorProcess, type Ask } from "./mirror-process.ts";
import { Publisher } from "./publisher.ts";
import { Registry } from "./registry.ts";
import { namespace, type Settings } from "./settings.ts";
import type { KeyName } from "./toy-keys.ts";

/** Everything that a sequence is played against. */
export class World {
  readonly machine: Machine;
  readonly publisher: Publisher;
  readonly registry: Registry;
  readonly oracle: Oracle;
  readonly #processes: MirrorProcess[];
  readonly #spoilt: RecordKey[] = [];
  #commandCrash: CrashPoint | undefined;
  settings: Settings;

  constructor(settings: Settings, signer: KeyName | undefined, count: number) {
    this.settings = settings;
    this.publisher = new Publisher(signer);
    this.registry = new Registry(this.publisher);
    this.machine = new Machine(this.registry);
    this.oracle = new Oracle(this.machine, settings);
    this.#processes = Array.from({ length: count }, () => this.#start());
  }

  /** Loses or damages a record, after which what depends on it may be refused. */
  spoil(which: number, how: "lose" | "damage"): string {
    const { disk } = this.machine;
    const keys = disk.list();
    const key = keys[which % Math.max(1, keys.length)];
    if (key === undefined) return "nothing is stored";
    if (how === "lose" && this.#hidesLoss(key))
      return "it shows that another one was lost";
    if (how === "lose") disk.remove(key);
    else disk.damage(key);
    this.#spoilt.push(key);
    for (const type of types)
      for (const version of versions)
        if (
          key.includes("releases") &&
          key.includes(type) &&
          key.includes(version)
        )
          this.oracle.first.forget({ type, version });
    return key.join("/");
  }

  /** Nothing shows a loss where the record and its mark are lost both. */
  #hidesLoss([, folder]: RecordKey): boolean {
    const pair = ["namespaces", "marks"];
    return (
      pair.includes(folder ?? "") &&
      this.#spoilt.some(
        ([, lost]) => lost !== folder && pair.includes(lost ?? ""),
      )
    );
  }

  /** True when something that a provider depends on may be unknown. */
  hasLost(type: string): boolean {
    return this.#spoilt.some(
      (key) => key.includes(type) || key.at(-1) === namespace,
    );
  }

  /** Has the next command die at one of its writes. */
  crashCommand(point: CrashPoint): void {
    this.#commandCrash = point;
  }

  takeCommandCrash(): CrashPoint | undefined {
    const point = this.#commandCrash;
    this.#commandCrash = undefined;
    return point;
  }

  /** The wall clock. */
  get now(): number {
    return this.machine.clock.now().getTime();
  }

  /** Number of processes that share the store. */
  get size(): number {
    return this.#processes.length;
  }

  /** Finds a process, which is started again if it died. */
  process(index: number): MirrorProcess {
    const at = index % this.#processes.length;
    const found = this.#processes[at];
    if (found !== undefined && !found.life.isDead) return found;
    return (this.#processes[at] = this.#start());
  }

  restart(index: number): void {
    this.#processes[index % this.#processes.length]?.life.end();
  }

  lie(lie: Lie): void {
    applyLie(this.registry, lie, this.now);
  }

  configure(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
    this.oracle.settings = this.settings;
    if (change.profile === undefined)
      for (const one of this.#processes) one.configure(this.settings);
    else for (const index of this.#processes.keys()) this.restart(index);
  }

  /** Asks, and has the oracle judge the answer. */
  async ask(index: number, asked: Ask): Promise<Answer> {
    const process = this.process(index);
    this.oracle.noteAsked(asked.type, versions);
    const answer = await settle(process.ask(asked).catch(readUnforeseen));
    this.judge(asked, answer);
    return answer;
  }

  judge(asked: Ask, answer: Answer): void {
    const { oracle } = this;
    if (answer.kind === "dead") oracle.hasCrashed = true;
    if (answer.kind === "versions" && answer.versions.length > 0)
      oracle.contacts.settle(asked.type);
    if (answer.kind !== "packages") return;
    oracle.contacts.settle(asked.type);
    for (const [platform, sha256] of answer.packages)
      oracle.expectServable({ ...asked, platform, sha256 });
  }

  /** Asks a face for everything that it has of a release. */
  async askFor(
    index: number,
    face: Ask["face"],
    name: ReleaseName,
    platform = "linux_amd64",
  ): Promise<Answer> {
    const { type, version } = name;
    return this.ask(index, { face, type, version, platform });
  }

  #start(): MirrorProcess {
    this.oracle.doubts.noteStart();
    return new MirrorProcess(this.machine, this.settings);
  }
}

/** Turns of the event loop in which every answer comes: nothing in a sequence waits for time. */
const patience = 200;

/** Waits for an answer and for what goes on after it. Throws Violation when it never comes. */
export async function settle<T>(answer: Promise<T>): Promise<T> {
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
