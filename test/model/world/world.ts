import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import { Oracle } from "../oracle/oracle.ts";
import type { Answer } from "./answers.ts";
import { applyLie } from "./lies.ts";
import type { Lie } from "./actions.ts";
import { types, versions, type ReleaseName } from "./documents.ts";
import type { MemoryMachine } from "./memory-machine.ts";
import type { MemoryRim } from "./memory-rim.ts";
import type { Ask } from "./mirror-process.ts";
import type { Publisher } from "./publisher.ts";
import type { Registry } from "./registry.ts";
import { modelTimes, namespace, type Settings } from "./settings.ts";

/** Everything that a sequence is played against. */
export class World {
  readonly rim: MemoryRim;
  readonly oracle: Oracle;
  readonly #spoilt: RecordKey[] = [];
  settings: Settings;

  constructor(rim: MemoryRim, settings: Settings) {
    this.rim = rim;
    this.settings = settings;
    this.oracle = new Oracle(rim.machine, settings);
    rim.onStart = () => this.oracle.doubts.noteStart();
  }

  get machine(): MemoryMachine {
    return this.rim.machine;
  }

  get registry(): Registry {
    return this.machine.registry;
  }

  get publisher(): Publisher {
    return this.registry.publisher;
  }

  /** Loses or damages a record, after which what depends on it may be refused. */
  spoil(which: number, how: "lose" | "damage"): string {
    const { disk } = this.rim;
    const keys = disk.list();
    const key = keys[which % Math.max(1, keys.length)];
    if (key === undefined) return "nothing to spoil";
    if (
      how === "lose" &&
      ["namespaces", "first_contacts", "candidates"].includes(key[0])
    )
      return "a row of trust, which is not lost alone";
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

  /** True when something that a provider depends on may be unknown. */
  hasLost(type: string): boolean {
    return this.#spoilt.some(
      (key) => key.includes(type) || key.at(-1) === namespace,
    );
  }

  /** The wall clock. */
  get now(): number {
    return this.machine.clock.now().getTime();
  }

  /** Number of processes that share the store. */
  get size(): number {
    return this.rim.size;
  }

  /** Waits until the mirror asks the registry again. */
  outlast(): void {
    this.machine.clock.pass(modelTimes.outlast);
  }

  lie(lie: Lie): void {
    applyLie(this.registry, lie, this.now);
  }

  configure(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
    this.oracle.settings = this.settings;
    this.rim.configure(change, this.settings);
  }

  /** Asks, and has the oracle judge the answer. */
  async ask(index: number, asked: Ask): Promise<Answer> {
    this.oracle.noteAsked(asked.type, versions);
    const since = this.machine.clock.monotonic();
    const answer = await this.rim.ask(index, asked);
    this.judge(asked, answer, since);
    return answer;
  }

  /** Judges an answer to what was asked at a moment of the monotonic clock. */
  judge(asked: Ask, answer: Answer, since: number): void {
    const { oracle } = this;
    oracle.hasCrashed ||= answer.kind === "dead";
    if (answer.kind === "versions" && answer.versions.length > 0)
      oracle.contacts.settle(asked.type);
    const isDecided = answer.kind === "packages" || answer.kind === "refused";
    if (asked.face === "version" && isDecided)
      oracle.noteAnswered(asked, since);
    if (answer.kind !== "packages") return;
    oracle.contacts.settle(asked.type);
    for (const [platform, sha256] of answer.packages)
      oracle.expectServable({ ...asked, platform, sha256 }, since);
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
}
