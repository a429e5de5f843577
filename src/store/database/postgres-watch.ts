import type { Client, ClientConfig } from "pg";

/** Milliseconds between two looks at whether the server answers, and until it has to. */
const interval = 1_000;
const patience = 2_000;

/** Names of changed records that wait to be asked for; more of them count as any. */
const mostHeard = 10_000;

/**
 * One connection on which the server tells what other processes change, in the order in which that counts, and which
 * shows whether it answers. After a break anything may have changed.
 */
export class PostgresWatch {
  /** Numbers of the connections of this process, whose changes it knows. */
  readonly own = new Set<number>();
  readonly #settings: ClientConfig;
  readonly #onProblem: (error: unknown) => void;
  #client: Client | undefined;
  #looking: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;
  #problem: unknown;
  #heard = new Set<string>();
  #isAny = true;

  /** `onProblem` hears why the server does not answer, and undefined once it does again. */
  constructor(settings: ClientConfig, onProblem: (error: unknown) => void) {
    this.#settings = settings;
    this.#onProblem = onProblem;
    this.#timer = setInterval(() => void this.#look(), interval).unref();
    void this.#look();
  }

  /** Why the server does not answer; undefined while it does. */
  get problem(): unknown {
    return this.#problem;
  }

  /** The records that others changed since the last call; undefined where it may be any. */
  takeChanges(): ReadonlySet<string> | undefined {
    const changes = this.#isAny ? undefined : this.#heard;
    this.#isAny = false;
    if (this.#heard.size > 0) this.#heard = new Set();
    return changes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#looking;
    await this.#client?.end().catch(() => undefined);
  }

  /** Never rejects. */
  #look(): Promise<void> {
    this.#looking ??= this.#ask().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #ask(): Promise<void> {
    if (this.#isClosed) return;
    try {
      this.#client ??= await this.#listen();
      const asked = { text: "SELECT 1", query_timeout: patience };
      await this.#client.query(asked);
      this.#tell(undefined);
    } catch (error) {
      this.#drop(this.#client);
      this.#tell(error);
    }
  }

  async #listen(): Promise<Client> {
    const { Client } = await import("pg");
    const client = new Client(this.#settings);
    // The connection broke: it is made again at once.
    client.on("error", () => {
      if (this.#drop(client)) void this.#look();
    });
    client.on("notification", ({ processId, payload }) => {
      if (this.own.has(processId)) return;
      if (!payload || this.#heard.size >= mostHeard) this.#isAny = true;
      else this.#heard.add(payload);
    });
    try {
      await client.connect();
      await client.query("LISTEN provender");
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    this.#isAny = true;
    return client;
  }

  /** False for one that was given up before. */
  #drop(client: Client | undefined): boolean {
    if (client === undefined || client !== this.#client) return false;
    this.#client = undefined;
    client.end().catch(() => undefined);
    return true;
  }

  #tell(error: unknown): void {
    const isNew = (error === undefined) !== (this.#problem === undefined);
    this.#problem = error;
    if (isNew) this.#onProblem(error);
  }
}
