import { KeyedLimit } from "../../src/concurrency/keyed-limit.ts";
import type { RecordKey, StoreLayout } from "../../src/store/layout.ts";
import { openDatabase } from "../../src/store/database/database.ts";
import { DatabaseRecords } from "../../src/store/database/database-records.ts";
import type { ReadBody } from "../../src/store/records/record-store.ts";
import { AuditLog } from "../../src/store/database/audit-log.ts";
import type { AuditEntry } from "../../src/telemetry/audit-entry.ts";
import { auditParts } from "../store/stores.ts";

/** Fate of one write: refused by the system, or the process dies before or after it. */
export type Fate = "fails" | "dies before" | "dies after";

/** A write or read that waits. */
interface Held {
  readonly reached: Promise<unknown>;
  readonly free: () => void;
}

/** End of a process that is killed at a write. */
export class Killed extends Error {}

/** Durable writes of one process, to its records and its audit log, in their order. */
export class Writes {
  /** Such as `trust/contacts/…` and `audit first-seen`. */
  readonly names: string[] = [];
  #isDead = false;
  #chosen: ((name: string) => Fate | undefined) | undefined;
  #held: ((name: string) => Promise<void>) | undefined;
  #code = "EACCES";
  #heldRead: ((name: string) => Promise<void>) | undefined;

  /** Lets every write that is chosen fail so from now on; none without `choose`. */
  let(choose?: (name: string) => Fate | undefined, code = "EACCES"): void {
    this.#chosen = choose;
    this.#code = code;
  }

  /** Lets the write of this number, from 1 on, fail so. */
  letOne(number: number, fate: Fate): void {
    let count = 0;
    this.let(() => (++count === number ? fate : undefined));
  }

  /** A process that is dead reads and writes nothing. */
  expectAlive(): void {
    if (this.#isDead) throw new Killed("the process was killed");
  }

  /** Holds the next write of that name; `reached` once it is about to happen. */
  hold(isHeld: (name: string) => boolean): Held {
    const { pass, held } = holdOne(isHeld);
    this.#held = pass;
    return held;
  }

  /** Holds the next read of that name, once the disk was looked at. */
  holdRead(isHeld: (name: string) => boolean): Held {
    const { pass, held } = holdOne(isHeld);
    this.#heldRead = pass;
    return held;
  }

  /** Called before a write takes its lock. */
  async wait(name: string): Promise<void> {
    await this.#held?.(name);
  }

  /** Called before a read answers. */
  async waitToRead(name: string): Promise<void> {
    await this.#heldRead?.(name);
  }

  /** Called where a write is about to happen. */
  begin(name: string): Fate | undefined {
    this.expectAlive();
    const fate = this.#chosen?.(name);
    if (fate === "fails") throw failure(this.#code);
    if (fate === "dies before") this.#die();
    this.names.push(name);
    return fate;
  }

  /** Called once it has happened. */
  end(fate: Fate | undefined): void {
    if (fate === "dies after") this.#die();
  }

  #die(): never {
    this.#isDead = true;
    throw new Killed("the process was killed");
  }
}

/** `pass` holds the first one of that name. */
function holdOne(isHeld: (name: string) => boolean) {
  const [reached, free] = [
    Promise.withResolvers<undefined>(),
    Promise.withResolvers<undefined>(),
  ];
  let isOver = false;
  const pass = async (name: string) => {
    if (isOver || !isHeld(name)) return;
    isOver = true;
    reached.resolve(undefined);
    await free.promise;
  };
  const held: Held = {
    reached: reached.promise,
    free: () => free.resolve(undefined),
  };
  return { pass, held };
}

function failure(code: string): Error {
  const message = `${code}: as the test says, write '/x'`;
  return Object.assign(new Error(message), { code, syscall: "write" });
}

/** Turns of changes by directory: processes here are replicas, which write on conditions. */
const turnsOf = new Map<string, KeyedLimit>();

/** Records whose writes may fail. */
export class FailingRecords extends DatabaseRecords {
  readonly #writes: Writes;
  readonly #turns: KeyedLimit;

  constructor(layout: StoreLayout, writes: Writes) {
    super(openDatabase(layout));
    this.#writes = writes;
    const { directory } = layout;
    this.#turns = turnsOf.get(directory) ?? new KeyedLimit(16, 1);
    turnsOf.set(directory, this.#turns);
  }

  override async read<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
  ): Promise<T | undefined> {
    this.#writes.expectAlive();
    const found = await super.read(key, readBody);
    await this.#writes.waitToRead(key.join("/"));
    return found;
  }

  override async create<T>(
    key: RecordKey,
    body: unknown,
    readBody: ReadBody<T>,
  ): Promise<T> {
    const known = await this.read(key, readBody);
    if (known !== undefined) return known;
    const name = key.join("/");
    await this.#writes.wait(name);
    return this.#turns.run(name, async () => {
      const first = await super.read(key, readBody);
      if (first !== undefined) return first;
      const fate = this.#writes.begin(name);
      const written = await super.create(key, body, readBody);
      this.#writes.end(fate);
      return written;
    });
  }

  override async change<T>(
    key: RecordKey,
    readBody: ReadBody<T>,
    change: (before: T | undefined) => unknown,
  ): Promise<void> {
    this.#writes.expectAlive();
    await this.#writes.wait(key.join("/"));
    let fate: Fate | undefined;
    const note = (before: T | undefined) => {
      const after = change(before);
      if (after !== before) fate = this.#writes.begin(key.join("/"));
      return after;
    };
    await this.#turns.run(key.join("/"), () =>
      super.change(key, readBody, note),
    );
    this.#writes.end(fate);
  }

  override async remove(key: RecordKey): Promise<void> {
    const fate = this.#writes.begin(`no ${key.join("/")}`);
    await super.remove(key);
    this.#writes.end(fate);
  }
}

/** An audit log whose durable lines may fail. */
export class FailingAudit extends AuditLog {
  readonly #writes: Writes;

  constructor(layout: StoreLayout, writes: Writes) {
    super(auditParts(layout));
    this.#writes = writes;
  }

  override async record(
    entry: AuditEntry,
    options: { readonly durable: boolean },
  ): Promise<void> {
    if (!options.durable) return super.record(entry, options);
    const fate = this.#writes.begin(`audit ${entry.event}`);
    await super.record(entry, options);
    this.#writes.end(fate);
  }
}
